//! Every verdict on a random program has a certificate, and the checker accepts it after it went through text.

mod common;

use std::cell::Cell;

use common::law::{MAX_STATES, check, program};
use common::oracle::{Truth, truth};
use common::random::{Sample, Shape};
use fencewright::certificate::{Certificate, Claim, Proof, Tireless, parse, verify, write};
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Options, StopReason, Task, Unlimited, Verdict};
use fencewright::memory::{Model, PsoRmw};
use fencewright::program::{Placement, Program};
use fencewright::prove::certify;
use fencewright::source::Source;
use fencewright::system::Dialect;

#[test]
fn every_verdict_has_a_certificate() {
    let counts = Counts::default();
    check("certificates", Shape { max_ops: 4, has_loops: false }, 1, |sample| law(sample, &counts));
    counts.print("straight");
}

#[test]
fn every_verdict_on_a_loop_has_a_certificate() {
    let counts = Counts::default();
    check("certificates of loops", Shape { max_ops: 4, has_loops: true }, 2, |sample| law(sample, &counts));
    counts.print("loops");
}

/// How many of which kind were accepted.
#[derive(Default)]
struct Counts {
    basis: Cell<u64>,
    exploration: Cell<u64>,
    runs: Cell<u64>,
}

impl Counts {
    fn count(&self, certificate: &Certificate) {
        let cell = match &certificate.claim {
            Claim::Safe(_, Proof::Basis(_)) => &self.basis,
            Claim::Safe(_, Proof::Exploration(_)) => &self.exploration,
            Claim::Unsafe(..) | Claim::Fences(_) => &self.runs,
        };
        cell.set(cell.get() + 1);
    }

    fn print(&self, name: &str) {
        let [basis, exploration, runs] = [&self.basis, &self.exploration, &self.runs].map(Cell::get);
        println!("{name}: {basis} bases, {exploration} explorations, {runs} runs");
        assert!(basis > runs / 100, "hardly any program is safe: the law says little");
        assert!(exploration <= basis / 50, "too many safe programs have no basis");
    }
}

fn law(sample: &Sample, counts: &Counts) -> Result<(), String> {
    let program = program(sample)?;
    for (model, pso_rmw) in [
        (Model::Sc, PsoRmw::Location),
        (Model::Tso, PsoRmw::Location),
        (Model::Pso, PsoRmw::Location),
        (Model::Pso, PsoRmw::All),
    ] {
        one(&program, model, pso_rmw, counts)?;
    }
    Ok(())
}

fn one(program: &Program, model: Model, pso_rmw: PsoRmw, counts: &Counts) -> Result<(), String> {
    let options = Options { dialect: Dialect { pso_rmw }, ..Options::default() };
    let task = Task { program, placement: &Placement::NONE, model, options: &options };
    let proved = certify(&Auto, &task, &Unlimited).map_err(|it| it.to_string())?;
    let Some(certificate) = proved.certificate else {
        return match proved.answer.verdict {
            Verdict::Unknown(StopReason::Unproved(_)) => Ok(()),
            verdict => Err(format!("{model}: {verdict:?}")),
        };
    };
    let is_safe = matches!(proved.answer.verdict, Verdict::Safe);
    let text = write(&certificate);
    let read = parse(&Source::new("certificate", text.as_str())).map_err(|it| format!("{it:?}\n{text}"))?;
    if read != certificate {
        return Err(format!("{model}: what is read differs from what was written:\n{text}"));
    }
    verify(program, &read, &Tireless).map_err(|it| format!("{model}: {it}\n{text}"))?;
    counts.count(&read);
    match truth(program, &Placement::NONE, model, options.dialect, MAX_STATES) {
        Truth::Safe if !is_safe => Err(format!("{model}: a run is certified, but the program is safe")),
        Truth::Unsafe if is_safe => Err(format!("{model}: safety is certified, but there is a run\n{text}")),
        Truth::Safe | Truth::Unsafe | Truth::TooLarge => Ok(()),
    }
}
