//! `translate`: print the program with its store buffers made explicit.

use std::path::Path;

use fencewright::program::Placement;
use fencewright::translate::{self, Flushes, Repeats, Request, print};

use crate::args::TranslateArguments;
use crate::code::Code;
use crate::console::Console;
use crate::{input, output};

/// Prints the translated program; what the language cannot say is refused.
pub fn run(arguments: &TranslateArguments, console: &mut Console) -> Code {
    let Some(program) = input::program(&arguments.file, &arguments.input, console) else { return Code::Wrong };
    let translated = translate::translate(&Request {
        program: &program,
        placement: &Placement::NONE,
        model: arguments.model,
        pso_rmw: arguments.pso_rmw.into(),
        method: arguments.method,
        bound: arguments.buffer,
        flushes: Flushes::WhereNoticed,
        overflow: arguments.overflow,
        repeats: Repeats::Kept,
    });
    let printer = print::named(&arguments.to).expect("the command line admits known languages only");
    match printer.print(&translated) {
        Ok(text) => output::write(arguments.output.as_deref().unwrap_or(Path::new("-")), &text, console),
        Err(unprintable) => {
            console.diagnostics(program.source(), &[unprintable]);
            Code::Wrong
        }
    }
}
