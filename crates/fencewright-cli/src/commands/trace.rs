//! `trace`: show a violating run.

use fencewright::report::Command;

use crate::args::TraceArguments;
use crate::code::Code;
use crate::commands::check::{Question, answer};
use crate::console::Console;

/// Shows a violating run under every model asked, or says that there is none.
pub(crate) fn run(arguments: &TraceArguments, console: &mut Console) -> Code {
    let (file, search, input) = (arguments.file.as_path(), &arguments.search, &arguments.input);
    if arguments.html.is_some() && search.models().len() > 1 {
        console.error("`--html` takes one model", Some("run it once for each"));
        return Code::Wrong;
    }
    answer(&Question { command: Command::Trace, file, search, input, page: arguments.html.as_deref() }, console)
}
