//! Every verdict on the examples has a certificate that the checker accepts; what is changed about it is refused, or
//! is still true.

mod common;

use std::path::Path;

use common::expectation::{Expectations, examples, root};
use common::random::Random;
use fencewright::certificate::{Basis, Certificate, Claim, Proof, Tireless, parse, verify, write};
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Monitor, Options, Progress, StopReason, Task, Unlimited, Verdict};
use fencewright::frontend;
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Placement, Program};
use fencewright::prove::{certify, certify_fences};
use fencewright::source::Source;
use fencewright::synth::{By, Costs, Place, Request, Wanted, candidates, synthesize};

/// Gives up after so many states or constraints, so that the answer is the same on every machine.
struct Budget(u64);

impl Monitor for Budget {
    fn poll(&self, progress: &Progress) -> Option<StopReason> {
        (progress.explored > self.0).then_some(StopReason::Memory)
    }
}

fn program(path: &Path) -> Program {
    let text = std::fs::read_to_string(path).expect("an example is text");
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    let frontend = frontend::by_extension(extension).expect("examples are programs");
    let source = Source::new(path.display().to_string(), text);
    frontend::parse(frontend, &source, &[]).program.expect("examples are right")
}

fn example(name: &str) -> Program {
    program(&root().join("examples").join(name))
}

fn fw(text: &str) -> Program {
    let source = Source::new("t.fw", text);
    frontend::parse(frontend::named("fw").expect("the front end is there"), &source, &[]).program.expect("it is right")
}

fn read(text: &str) -> Option<Certificate> {
    parse(&Source::new("certificate", text)).ok()
}

fn certificate(program: &Program, model: Model) -> Certificate {
    let options = Options::default();
    let task = Task { program, placement: &Placement::NONE, model, options: &options };
    let proved = certify(&Auto, &task, &Unlimited).expect("the engine takes the program");
    proved.certificate.unwrap_or_else(|| panic!("no certificate: {:?}", proved.answer.verdict))
}

#[test]
fn every_verdict_on_an_example_has_a_certificate() {
    let (mut n_valid, mut n_explored, mut skipped) = (0, 0, Vec::new());
    for path in examples(&root()) {
        let program = program(&path);
        let name =
            path.strip_prefix(root().join("examples")).expect("examples are below the root").display().to_string();
        for model in Model::ALL {
            let options = Options::default();
            let task = Task { program: &program, placement: &Placement::NONE, model, options: &options };
            let Ok(proved) = certify(&Auto, &task, &Budget(60_000)) else { continue };
            let Some(certificate) = proved.certificate else {
                if let Verdict::Unknown(reason) = &proved.answer.verdict {
                    assert!(!matches!(reason, StopReason::Defect(_)), "{name} under {model}: {reason}");
                    skipped.push(format!("{name} under {model}: {reason}"));
                }
                continue;
            };
            let read = read(&write(&certificate)).expect("what is written can be read");
            assert_eq!(verify(&program, &read, &Tireless), Ok(()), "{name} under {model}");
            n_valid += 1;
            n_explored += u32::from(matches!(read.claim, Claim::Safe(_, Proof::Exploration(_))));
        }
    }
    println!(
        "{n_valid} valid, {n_explored} of them by exploration; {} skipped:\n{}",
        skipped.len(),
        skipped.join("\n")
    );
}
