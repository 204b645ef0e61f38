//! The checker of proofs by abstraction, tried on random programs: whatever grid a certificate names, a program that is
//! unsafe is refused. How many of the safe ones it accepts is counted, so that the law says something.

mod common;

use std::cell::Cell;

use common::integers::{Arithmetic, Integers};
use common::law::{MAX_STATES, check, check_observed, check_weak, program, program_of};
use common::oracle::{Truth, truth};
use common::random::{Random, Shape};
use fencewright::certificate::{Abstraction, Certificate, Claim, Patience, Proof, Subject, digest, verify};
use fencewright::memory::{Model, PsoRmw};
use fencewright::program::{Placement, Program};
use fencewright::system::Dialect;

/// Models, and what atomic updates wait for.
const MODELS: [(Model, PsoRmw); 4] = [
    (Model::Sc, PsoRmw::Location),
    (Model::Tso, PsoRmw::Location),
    (Model::Pso, PsoRmw::Location),
    (Model::Pso, PsoRmw::All),
];

#[test]
fn no_unsafe_program_is_accepted() {
    let counts = Counts::default();
    let shape = Shape { max_ops: 4, has_loops: false };
    check("proofs by abstraction", shape, 8, |sample| counts.law(&program(sample)?));
    check("proofs by abstraction of loops", Shape { has_loops: true, ..shape }, 16, |sample| {
        counts.law(&program(sample)?)
    });
    counts.finish();
}

#[test]
fn no_weak_behaviour_is_overlooked() {
    let counts = Counts::default();
    let shape = Shape { max_ops: 4, has_loops: false };
    for model in [Model::Tso, Model::Pso] {
        check_weak("weak behaviour", shape, model, 16, |sample| counts.law(&program(sample)?));
    }
    check_observed("buffered stores that are watched", 16, |sample| counts.law(&program(sample)?));
    counts.finish();
}

#[test]
fn no_arithmetic_is_overlooked() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let n_samples = number("FENCEWRIGHT_LAWS").unwrap_or(2_000) / 8;
    let seed = number("FENCEWRIGHT_SEED").unwrap_or(1);
    let counts = Counts::default();
    for i in 0..n_samples {
        let sample = Integers::new(&mut Random(seed.wrapping_mul(9_000_011).wrapping_add(i)), Arithmetic::Differences);
        let law = |sample: &Integers| counts.law(&program_of(sample.text())?);
        if law(&sample).is_err() {
            let small = sample.shrunk(|candidate| law(candidate).is_err());
            panic!("seed {seed}, program {i}: {}\n\n{}", law(&small).expect_err("it still fails"), small.text());
        }
    }
    counts.finish();
}

/// Programs that are unsafe under TSO and PSO, each of which tells a wrong rule from a right one.
const TRAPS: &[&str] = &[
    // A load finds the own store, though nobody else does yet.
    "shared x, y: int = 0;
     thread A { let r: int = 0; let s: int = 0; x = 1; r = x; s = y; }
     thread B { let t: int = 0; y = 1; fence; t = x; }
     forbid A.r == 1 && A.s == 0 && B.t == 0 at end;",
    // Of two it finds the newer one.
    "shared x, y: int = 0;
     thread A { let r: int = 0; let s: int = 0; x = 1; x = 2; r = x; s = y; }
     thread B { let t: int = 0; y = 1; fence; t = x; }
     forbid A.r == 2 && A.s == 0 && B.t == 0 at end;",
    // A thread that is stuck has still stored.
    "shared x: int = 0;
     thread A { let r: int = 0; x = 1; assume(r == 5); r = 2; }
     thread B { let s: int = 0; s = x; }
     forbid B.s == 1;",
    // So has one that turns in a circle by itself.
    "shared x: int = 0;
     thread A { let r: 0..1 = 0; x = 1; loop { r = 1 - r; } }
     thread B { let s: int = 0; s = x; }
     forbid B.s == 1;",
    // A value outside a range is a violation.
    "shared x: 0..1 = 0;
     thread A { let r: int = 0; r = x; x = r + 2; }",
    "shared x: int = 0;
     thread A { x = 2; }
     thread B { let s: 0..1 = 0; s = x; }",
    "shared x[2]: int = 0;
     thread A { let r: int = 0; r = x[0]; x[r + 2] = 1; }",
];

#[test]
fn traps_are_refused() {
    for text in TRAPS {
        let program = program_of((*text).to_owned()).unwrap_or_else(|errors| panic!("{errors}"));
        for (model, pso_rmw) in MODELS.into_iter().filter(|it| it.0 != Model::Sc) {
            let accepted = (0..3).find(|&k| is_accepted(&program, model, pso_rmw, k));
            assert_eq!(accepted, None, "accepted under {model}:\n{text}");
        }
    }
}

/// How many proofs were tried on safe programs, and how many were accepted.
#[derive(Debug, Default)]
struct Counts {
    safe: Cell<u32>,
    accepted: Cell<u32>,
    refused_rightly: Cell<u32>,
}

impl Counts {
    fn law(&self, program: &Program) -> Result<(), String> {
        for (model, pso_rmw) in MODELS {
            let truth = truth(program, &Placement::NONE, model, Dialect { pso_rmw }, MAX_STATES);
            if truth == Truth::TooLarge {
                continue;
            }
            let accepted = (0..3).rev().find(|&k| is_accepted(program, model, pso_rmw, k));
            match (truth, accepted) {
                (Truth::Unsafe, Some(k)) => return Err(format!("{model}, {pso_rmw:?}: accepted with k = {k}")),
                (Truth::Unsafe, None) => self.refused_rightly.set(self.refused_rightly.get() + 1),
                (Truth::Safe | Truth::TooLarge, _) => {
                    self.safe.set(self.safe.get() + 1);
                    self.accepted.set(self.accepted.get() + u32::from(accepted.is_some()));
                }
            }
        }
        Ok(())
    }

    fn finish(&self) {
        println!("{self:?}");
        assert!(self.refused_rightly.get() > self.safe.get() / 20, "hardly any program is unsafe: {self:?}");
        assert!(self.accepted.get() > self.safe.get() / 2, "hardly any proof is accepted: {self:?}");
    }
}

fn is_accepted(program: &Program, model: Model, pso_rmw: PsoRmw, k: u32) -> bool {
    let grid = Abstraction { k, single: (-4..=4).collect(), pair: (-4..=4).collect() };
    let subject = Subject { tool: String::new(), program: digest(program), model, pso_rmw };
    let claim = Claim::Safe(Placement::NONE, Proof::Abstraction(grid));
    verify(program, &Certificate { subject, claim }, &Hurried).is_ok()
}

/// Waits for so many steps.
struct Hurried;

impl Patience for Hurried {
    fn is_over(&self, steps: u64, _bytes: u64) -> bool {
        steps > 40_000
    }
}
