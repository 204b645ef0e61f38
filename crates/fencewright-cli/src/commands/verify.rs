//! `verify`: is a certificate right?

use std::sync::Arc;

use fencewright::certificate::{Certificate, Failure, parse, verify};
use fencewright::program::Program;
use fencewright::report::Verification;
use fencewright::source::Source;
use fencewright::watch::Limits;

use crate::args::VerifyArguments;
use crate::code::Code;
use crate::console::Console;
use crate::input::Unread;
use crate::monitor::Watch;
use crate::{input, rss};

/// Checks a certificate against a program.
pub(crate) fn run(arguments: &VerifyArguments, console: &mut Console) -> Code {
    let mut limits = arguments.limits.limits();
    let read = read(arguments, &mut limits, console);
    let Claimed { program, source, certificate } = match read {
        Ok(claimed) => claimed,
        Err(unread) => return console.refuse(&input::name(&arguments.file), unread),
    };
    let watch = Watch::start(limits, source.name().to_owned(), console);
    let (theirs, claim) = (Arc::clone(&program), Arc::clone(&certificate));
    let done = watch.over(move |watch| verify(&theirs, &claim, watch));
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
    match result {
        Ok(()) if certificate.claim.is_of_the_program() => Code::Good,
        // What is shown is shown of another program.
        Ok(()) => Code::Unknown,
        Err(Failure::Refused(_)) => Code::Bad,
        Err(Failure::Stopped(stop)) => Code::of_stop(&stop.into()),
    }
}

/// A program, and what is claimed of it.
struct Claimed {
    program: Arc<Program>,
    /// The text of the certificate.
    source: Source,
    certificate: Arc<Certificate>,
}

fn read(arguments: &VerifyArguments, limits: &mut Limits, console: &Console) -> Result<Claimed, Unread> {
    let program = Arc::new(input::program(&arguments.file, &arguments.input, limits, console)?);
    let path = &arguments.certificate;
    let source = Source::new(console.name_of(path), input::text_of(path, limits, console)?);
    let theirs = source.clone();
    let certificate = input::within(limits, path, console, move || parse(&theirs))?.map_err(|diagnostic| {
        console.diagnostics(&source, &[diagnostic]);
        Unread::Wrong
    })?;
    Ok(Claimed { program, source, certificate: Arc::new(certificate) })
}
