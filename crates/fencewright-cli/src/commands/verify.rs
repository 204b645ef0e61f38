//! `verify`: is a certificate right?

use fencewright::certificate::{Failure, parse, verify};
use fencewright::report::Verification;
use fencewright::source::Source;
use fencewright::watch::Limits;

use crate::args::VerifyArguments;
use crate::code::Code;
use crate::console::Console;
use crate::monitor::Watch;
use crate::{input, rss};

/// Checks a certificate against a program.
pub(crate) fn run(arguments: &VerifyArguments, console: &mut Console) -> Code {
    let name = input::name(&arguments.file);
    let program = input::program(&arguments.file, &arguments.input, console);
    let Some(program) = program else { return console.refuse(&name) };
    let Some(text) = input::text_of(&arguments.certificate, console) else { return console.refuse(&name) };
    let source = Source::new(console.name_of(&arguments.certificate), text);
    let certificate = match parse(&source) {
        Ok(certificate) => certificate,
        Err(diagnostic) => {
            console.diagnostics(&source, &[diagnostic]);
            return console.refuse(&name);
        }
    };
    let limits = Limits { time: arguments.timeout.0, bytes: arguments.memory.0 };
    let watch = Watch::start(limits, source.name().to_owned(), console);
    watch.over(
        || verify(&program, &certificate, &watch),
        |done| {
            watch.clear();
            let is_deaf = done.is_err();
            let result = done.unwrap_or_else(|stop| Err(Failure::Stopped(stop)));
            let verification = Verification {
                file: program.source().name(),
                path: source.name(),
                program: &program,
                certificate: &certificate,
                result: &result,
                seconds: watch.elapsed().as_secs_f64(),
                peak_rss: rss::peak(),
                notes: &console.take_notes(),
            };
            console.tell(&console.report().verification(&verification, console.look()));
            let code = match result {
                Ok(()) if certificate.claim.is_of_the_program() => Code::Good,
                // What is shown is shown of another program.
                Ok(()) => Code::Unknown,
                Err(Failure::Refused(_)) => Code::Bad,
                Err(Failure::Stopped(stop)) => Code::of_stop(&stop.into()),
            };
            code.max(if is_deaf { console.end() } else { Code::Good })
        },
    )
}
