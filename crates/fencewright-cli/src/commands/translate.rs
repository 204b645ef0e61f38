//! `translate`: print the program with its store buffers made explicit.

use std::path::Path;
use std::sync::Arc;

use fencewright::engine::StopReason;
use fencewright::memory::Dialect;
use fencewright::program::Placement;
use fencewright::translate::{self, Flushes, Repeats, Request, print};

use crate::args::TranslateArguments;
use crate::code::Code;
use crate::console::Console;
use crate::monitor::Watch;
use crate::{input, output};

/// Prints the translated program; what the language cannot say is refused.
pub(crate) fn run(arguments: &TranslateArguments, console: &mut Console) -> Code {
    let mut limits = arguments.limits.limits();
    let program = match input::program(&arguments.file, &arguments.input, &mut limits, console) {
        Ok(program) => Arc::new(program),
        Err(unread) => return Code::of_unread(unread),
    };
    if program.is_open() {
        let help = "list its threads: `thread P(i: 1..3)`";
        console.error_about(
            Some(&console.name_of(&arguments.file)),
            "any number of threads cannot be translated",
            Some(help),
        );
        return Code::Wrong;
    }
    let dialect = Dialect { pso_rmw: arguments.pso_rmw.into() };
    let buffering = arguments.model.buffering(dialect).expect("the command line admits models with store buffers only");
    let printer = print::named(&arguments.to).expect("the command line admits known languages only");
    let (theirs, method) = (Arc::clone(&program), arguments.method);
    let (bound, overflow) = (arguments.buffer, arguments.overflow);
    let watch = Watch::start(limits, console.name_of(&arguments.file), console);
    let done = watch.over(move |_| {
        printer.print(&translate::translate(&Request {
            program: &theirs,
            placement: &Placement::NONE,
            buffering,
            method,
            bound,
            flushes: Flushes::WhereNoticed,
            overflow,
            repeats: Repeats::Kept,
        }))
    });
    match done {
        Ok(Ok(text)) => output::write(arguments.output.as_deref().unwrap_or(Path::new("-")), &text, console),
        Ok(Err(unprintable)) => {
            console.diagnostics(program.source(), &[unprintable]);
            Code::Wrong
        }
        Err(stop) => {
            let (name, reason) = (console.name_of(&arguments.file), StopReason::from(stop));
            console.error_about(Some(&name), &format!("`{name}` was not translated: {stop}"), reason.advice());
            Code::of_stop(&reason)
        }
    }
}
