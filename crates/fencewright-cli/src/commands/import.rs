//! `import`: print another format's program as `.fw`.

use fencewright::frontend::{fw, lower};
use fencewright::source::Diagnostic;

use crate::args::ImportArguments;
use crate::code::Code;
use crate::console::Console;
use crate::input;

/// Prints the program; one that means nothing is refused.
pub fn run(arguments: &ImportArguments, console: &mut Console) -> Code {
    let Some(input) = input::read(&arguments.file, arguments.input_format.as_deref(), console) else {
        return Code::Wrong;
    };
    let mut source = input.source;
    let (file, mut diagnostics) = input.frontend.read(&mut source, &mut input::Disk);
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(lower::lower(&source, &file, &[]).diagnostics);
    }
    console.diagnostics(&source, &diagnostics);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Code::Wrong;
    }
    console.say(&fw::print(&file));
    Code::Good
}
