//! The reader of certificates and their checker on any text: no panic, no claim that is not true, and what is read can be
//! written and read again.
#![no_main]

use std::time::Duration;

use fencewright::certificate::{Claim, Question, Subject, parse, verify, write};
use fencewright::frontend::{self, fw};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::source::Source;
use fencewright::watch::{Limits, LimitsMonitor};

/// Store buffering: unsafe under TSO and PSO.
const PROGRAM: &str = "shared x, y: 0..1; thread P { x = 1; let a = y; } thread Q { y = 1; let a = x; }
forbid P.a == 0 && Q.a == 0 at end;";

fn program() -> Program {
    let lowered = frontend::parse(&fw::Fw, &Source::new("sb.fw", PROGRAM), &[]);
    lowered.program.expect("the program is well-formed")
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(certificate) = parse(&Source::new("fuzz", text)) else { return };
    let written = write(&certificate);
    let again = parse(&Source::new("written", written.as_str())).expect("what is written can be read");
    assert_eq!(write(&again), written, "writing is the identity on what was written");
    let limits = Limits { time: Some(Duration::from_secs(1)), bytes: Some(1 << 28) };
    let is_accepted = verify(&program(), &certificate, &LimitsMonitor::start(limits, None)).is_ok();
    let Subject { model, question, .. } = &certificate.subject;
    // It neither hangs nor races, and is robust where it is run in order.
    let is_broken = *model != Model::Sc && !matches!(question, Question::Hang(_) | Question::Race(_));
    if let (true, true, Claim::Safe(placement, _)) = (is_accepted, is_broken, &certificate.claim) {
        assert!(!placement.is_empty(), "it is not safe without fences");
    }
});
