//! `completions`: the completions for a shell.

use clap::CommandFactory;

use crate::args::{Arguments, CompletionsArguments};
use crate::code::Code;
use crate::console::Console;

/// Prints the completions.
pub(crate) fn run(arguments: &CompletionsArguments, console: &mut Console) -> Code {
    let mut out = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "fencewright", &mut out);
    console.say(&String::from_utf8_lossy(&out));
    Code::Good
}
