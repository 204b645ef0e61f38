//! `translate`: print the program with its store buffers made explicit.

use std::path::Path;

use fencewright::memory::Dialect;
use fencewright::program::Placement;
use fencewright::translate::{self, Flushes, Repeats, Request, print};

use crate::args::TranslateArguments;
use crate::code::Code;
use crate::console::Console;
use crate::{input, output};

/// Prints the translated program; what the language cannot say is refused.
pub(crate) fn run(arguments: &TranslateArguments, console: &mut Console) -> Code {
    let Some(program) = input::program(&arguments.file, &arguments.input, console) else { return Code::Wrong };
    let dialect = Dialect { pso_rmw: arguments.pso_rmw.into() };
    let buffering = arguments.model.buffering(dialect).expect("the command line admits models with store buffers only");
    let translated = translate::translate(&Request {
        program: &program,
        placement: &Placement::NONE,
        buffering,
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
