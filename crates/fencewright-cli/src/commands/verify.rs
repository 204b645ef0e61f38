//! `verify`: is a certificate right?

use std::cell::RefCell;

use fencewright::certificate::{Failure, Patience, parse, verify};
use fencewright::engine::{Limits, Monitor, Progress, StopReason};
use fencewright::report::Verification;
use fencewright::source::Source;

use crate::args::VerifyArguments;
use crate::code::Code;
use crate::console::Console;
use crate::monitor::Watch;
use crate::{input, rss};

/// Checks a certificate against a program.
pub fn run(arguments: &VerifyArguments, console: &mut Console) -> Code {
    let Some(program) = input::program(&arguments.file, &arguments.input, console) else { return Code::Wrong };
    let Some(text) = input::text_of(&arguments.certificate, console) else { return Code::Wrong };
    let source = Source::new(arguments.certificate.display().to_string(), text);
    let certificate = match parse(&source) {
        Ok(certificate) => certificate,
        Err(diagnostic) => {
            console.diagnostics(&source, &[diagnostic]);
            return Code::Wrong;
        }
    };
    let limits = Limits { time: arguments.timeout.0, bytes: arguments.memory.0 };
    let watch = Watch::start(limits, source.name().to_owned(), console);
    let patient = Patient { watch: &watch, stopped: RefCell::default() };
    let result = verify(&program, &certificate, &patient);
    let stopped = patient.stopped.into_inner();
    let seconds = watch.elapsed().as_secs_f64();
    drop(watch);
    let verification = Verification {
        file: program.source().name(),
        path: source.name(),
        certificate: &certificate,
        result: &result,
        stopped: stopped.as_ref(),
        seconds,
        peak_rss: rss::peak(),
    };
    console.tell(&console.report().verification(&verification, console.look()));
    match (&result, &stopped) {
        (Ok(()), _) => Code::Good,
        (Err(Failure::Refused(_)), _) => Code::Bad,
        (Err(Failure::Stopped), Some(reason)) => Code::of_stop(reason),
        (Err(Failure::Stopped), None) => Code::Unknown,
    }
}

/// Lets the limits watch the checker.
struct Patient<'a> {
    watch: &'a Watch<'a>,
    stopped: RefCell<Option<StopReason>>,
}

impl Patience for Patient<'_> {
    fn is_over(&self, steps: u64, bytes: u64) -> bool {
        let stopped = self.watch.poll(&Progress { explored: steps, queued: 0, depth: 0, bytes });
        let is_over = stopped.is_some();
        self.stopped.replace(stopped);
        is_over
    }
}
