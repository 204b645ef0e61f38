//! `import`: print another format's program as `.fw`.

use fencewright::frontend::{self, fw};

use crate::args::ImportArguments;
use crate::code::Code;
use crate::console::Console;
use crate::input;

/// Prints the program; one that means nothing is refused.
pub(crate) fn run(arguments: &ImportArguments, console: &mut Console) -> Code {
    let Some(input) = input::read(&arguments.file, arguments.input_format.as_deref(), console) else {
        return Code::Wrong;
    };
    let mut source = input.source;
    let text = &mut frontend::Input { source: &mut source, files: &mut input::Disk, defines: &[] };
    let read = input.frontend.read(text);
    let printed = read.surface().map(fw::print);
    let lowered = frontend::lower_read(source, read, &[]);
    console.diagnostics(&lowered.source, &lowered.diagnostics);
    match printed {
        _ if lowered.program.is_none() => Code::Wrong,
        Some(printed) => {
            console.say(&printed);
            Code::Good
        }
        None => {
            let message = format!("programs in the language `{}` cannot be printed as `.fw`", input.frontend.name());
            console.error(&message, Some("check them as they are"));
            Code::Wrong
        }
    }
}
