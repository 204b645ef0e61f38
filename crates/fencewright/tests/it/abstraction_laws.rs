//! The checker of proofs by abstraction, tried on random programs: whatever grid a certificate names, a program that is
//! unsafe is refused. How many of the safe ones it accepts is counted, so that the law says something.

use std::cell::Cell;
use std::collections::BTreeSet;

use fencewright::certificate::abstraction::{Predicate, Site};
use fencewright::certificate::{Abstraction, Certificate, Claim, Proof, Question, Subject, digest, verify};
use fencewright::memory::{Dialect, Model, PsoRmw};
use fencewright::program::{Domain, LocationId, Placement, Program, Scales, StateVar, Value};
use fencewright::watch::{Monitor, Progress, Stop};

use crate::common::integers::{Arithmetic, Integers};
use crate::common::law::{
    MAX_STATES, MODELS, check, check_observed, check_weak, n_programs, of_many, program, program_of, seed,
};
use crate::common::oracle::{Truth, truth};
use crate::common::random::{Random, Shape};

#[test]
fn no_unsafe_program_is_accepted() {
    let counts = Counts::default();
    let shape = Shape { max_ops: 4, has_loops: false };
    check("proofs by abstraction", shape, 16, |sample| counts.law(&program(sample)?));
    check("proofs by abstraction of loops", Shape { has_loops: true, ..shape }, 32, |sample| {
        counts.law(&program(sample)?)
    });
    counts.finish();
}

#[test]
fn no_weak_behaviour_is_overlooked() {
    let counts = Counts::default();
    let shape = Shape { max_ops: 4, has_loops: false };
    for model in [Model::Tso, Model::Pso] {
        check_weak("weak behaviour", shape, model, 32, |sample| counts.law(&program(sample)?));
    }
    check_observed("buffered stores that are watched", 16, |sample| counts.law(&program(sample)?));
    counts.finish();
}

#[test]
fn no_arithmetic_is_overlooked() {
    let (n_samples, seed) = (n_programs() / 16, seed());
    let counts = Counts::default();
    for i in 0..n_samples {
        let arithmetic = if i.is_multiple_of(2) { Arithmetic::Differences } else { Arithmetic::Linear };
        let sample = Integers::new(&mut Random(seed.wrapping_mul(9_000_011).wrapping_add(i)), arithmetic);
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
    // What a late thread finds is what another has stored before, though not what it stores now.
    "shared x, y: int = 0;
     thread A { let r: int = 0; let s: int = 0; x = 1; r = y; s = y; }
     thread B { let t: int = 0; y = 1; t = x; y = 2; }
     forbid A.r == 0 && A.s == 2 && B.t == 0;",
    // A thread that loads while its store waits is not prompt, even if a fence comes later.
    "shared x, y: int = 0;
     thread A { let r: int = 0; x = 1; r = y; fence; }
     thread B { let s: int = 0; y = 1; s = x; fence; }
     forbid A.r == 0 && B.s == 0 at end;",
    // Nor is one that does so only the second time around.
    "shared x, y: int = 0;
     thread A { let n: int = 0; let r: int = 1; loop { r = y; here: n = n + 1; x = n; } }
     thread B { let s: int = 5; y = 1; fence; s = x; }
     forbid A@here && A.n == 1 && A.r == 0 && B.s == 0;",
    // Of stores that rise, one between the first and the last is seen too.
    "shared x, y: int = 0;
     thread A { let r: int = 0; x = 1; x = 2; x = 3; r = y; }
     thread B { let s: int = 0; y = 1; s = x; }
     forbid B.s == 2;",
    // What a late thread finds is at most what memory holds only where memory grows: an update, a block, a store that
    // waits or one that does not may lower it.
    "shared x: int = 0; shared y: int = 5;
     thread A { let r: int = 0; x = 1; r = y; }
     thread B { let s: int = 0; s = x; y = 1; }
     forbid A.r == 5 && y == 1 at end;",
    "shared x: int = 0; shared y: int = 5;
     thread A { let r: int = 0; x = 1; r = y; }
     thread B { let s: int = fetch_add(y, -4); }
     forbid A.r == 5 && y == 1 at end;",
    "shared x: int = 0; shared y: int = 5;
     thread A { let r: int = 0; x = 1; r = y; }
     thread B { atomic { y = 1; } }
     forbid A.r == 5 && y == 1 at end;",
    // It may be less than that.
    "shared x, y: int = 0;
     thread A { let r: int = 0; x = 1; r = y; }
     thread B { let s: int = 0; y = 1; fence; s = x; }
     forbid A.r == 0 && B.s == 0 at end;",
    // In other units a value that is picked, or that nobody has chosen, is still any.
    "shared x: 0..3 = any;
     thread A { let r: int = 0; r = x; }
     forbid A.r == 1;",
    "shared x: int = 0;
     thread A { let r: 0..3 = any; x = r; }
     thread B { let s: int = 0; s = x; }
     forbid B.s == 1;",
    // And what is multiplied by nothing may still go wrong.
    "shared x: int = 4;
     thread A { let r: int = 0; let s: int = 0; s = x / 2; r = 0 * (1 / (s - 2)); }",
    // Stores that fall do not leave in the order of their values.
    "shared x: int = 0;
     thread A { let r: int = 0; x = 1; x = 3; x = 2; r = x; }
     thread B { let s: int = 0; let t: int = 0; s = x; t = x; }
     forbid B.s == 3 && B.t == 2;",
];

/// The same under PSO, where an atomic update waits for its own location only.
const PSO_TRAPS: &[&str] = &[
    // An update of another location does not wait for the store, and cannot be put off.
    "shared x, y: int = 0;
     thread A { x = 1; let r: int = fetch_add(y, 1); }
     thread B { let s: int = 0; let t: int = 0; s = y; t = x; }
     forbid B.s == 1 && B.t == 0 at end;",
    // Stores to different locations reach memory in any order.
    "shared x, y: int = 0;
     thread A { x = 1; y = 1; }
     thread B { let s: int = 0; let t: int = 0; s = y; t = x; }
     forbid B.s == 1 && B.t == 0 at end;",
];

#[test]
fn traps_are_refused() {
    let weak = &MODELS[1..];
    let traps = TRAPS.iter().map(|text| (text, weak)).chain(PSO_TRAPS.iter().map(|text| (text, &weak[1..2])));
    for (text, models) in traps {
        let program = program_of((*text).to_owned()).unwrap_or_else(|errors| panic!("{errors}"));
        for &(model, pso_rmw) in models {
            assert_eq!(accepted(&program, model, pso_rmw), None, "accepted under {model}:\n{text}");
        }
    }
}

/// How many proofs were tried on safe programs, and how many were accepted.
#[derive(Debug, Default)]
struct Counts {
    safe: Cell<u32>,
    accepted: Cell<u32>,
    /// Of those, with stores that rise.
    by_rising: Cell<u32>,
    /// And with processes that are late.
    by_late: Cell<u32>,
    /// And with memory that grows.
    by_growing: Cell<u32>,
    /// And in other units.
    by_scale: Cell<u32>,
    refused_rightly: Cell<u32>,
}

impl Counts {
    fn law(&self, program: &Program) -> Result<(), String> {
        for (model, pso_rmw) in MODELS {
            let truth = truth(program, &Placement::NONE, model, Dialect { pso_rmw }, MAX_STATES);
            if truth == Truth::TooLarge {
                continue;
            }
            match (truth, accepted(program, model, pso_rmw)) {
                (Truth::Unsafe, Some(grid)) => return Err(format!("{model}, {pso_rmw:?}: accepted with {grid:?}")),
                (Truth::Unsafe, None) => self.refused_rightly.set(self.refused_rightly.get() + 1),
                (Truth::Safe | Truth::TooLarge, accepted) => {
                    self.safe.set(self.safe.get() + 1);
                    self.accepted.set(self.accepted.get() + u32::from(accepted.is_some()));
                    let is_by_rising = accepted.as_ref().is_some_and(|grid| !grid.rising.is_empty());
                    self.by_rising.set(self.by_rising.get() + u32::from(is_by_rising));
                    let is_by_late = accepted.as_ref().is_some_and(|grid| !grid.late.is_empty());
                    self.by_late.set(self.by_late.get() + u32::from(is_by_late));
                    let is_by_growing = accepted.as_ref().is_some_and(|grid| !grid.growing.is_empty());
                    self.by_growing.set(self.by_growing.get() + u32::from(is_by_growing));
                    let is_by_scale = accepted.is_some_and(|grid| !grid.scales.is_empty());
                    self.by_scale.set(self.by_scale.get() + u32::from(is_by_scale));
                }
            }
        }
        Ok(())
    }

    fn finish(&self) {
        println!("{self:?}");
        of_many(self.refused_rightly.get() > self.safe.get() / 20, &format!("hardly any program is unsafe: {self:?}"));
        of_many(self.accepted.get() > self.safe.get() / 2, &format!("hardly any proof is accepted: {self:?}"));
    }
}

/// A grid with which the checker accepts that a program is safe, if one of a few is such.
fn accepted(program: &Program, model: Model, pso_rmw: PsoRmw) -> Option<Abstraction> {
    let plain = Abstraction { single: (-4..=4).collect(), pair: (-4..=4).collect(), ..Abstraction::default() };
    let grids = (0..3).rev().map(|k| Abstraction { k, ..plain.clone() });
    // Stores to some location may rise, or to all.
    let all: BTreeSet<LocationId> = program.locations().indices().collect();
    let some = all.iter().map(|&x| BTreeSet::from([x])).chain([all.clone()]);
    let rising = some.map(|rising| Abstraction { rising, ..plain.clone() });
    let linear = Abstraction { k: 1, predicates: sums(program), ..plain.clone() };
    let late = program.processes().indices().map(|process| BTreeSet::from([process]));
    let late = late.chain([program.processes().indices().collect()]);
    let late = late.map(|late| Abstraction { k: 1, late, ..plain.clone() });
    // Besides, memory may grow.
    let everybody = Abstraction { k: 1, late: program.processes().indices().collect(), ..plain.clone() };
    let growing = Abstraction { growing: all.clone(), ..everybody.clone() };
    let with_rising = Abstraction { growing: all.clone(), rising: all.clone(), ..everybody.clone() };
    let mut tried =
        grids.chain(rising).chain(late).chain([growing, with_rising]).chain(scaled(program)).chain([linear]);
    tried.find(|grid| is_accepted(program, model, pso_rmw, grid))
}

/// The program in other units: all integers twice as large, or one of them.
fn scaled(program: &Program) -> Vec<Abstraction> {
    let memory = program.locations().iter_enumerated().map(|(x, it)| (StateVar::Memory(x), it.domain));
    let registers = program
        .processes()
        .iter_enumerated()
        .flat_map(|(p, it)| it.registers.iter_enumerated().map(move |(r, it)| (StateVar::Register(p, r), it.domain)));
    let scalable: Vec<StateVar> = memory.chain(registers).filter(|it| it.1 != Domain::Bool).map(|it| it.0).collect();
    let sets = [scalable.clone()].into_iter().chain(scalable.iter().take(1).map(|&it| vec![it]));
    let scales = sets.map(|set| set.into_iter().map(|it| (it, 2)).collect::<Scales>());
    let even: BTreeSet<Value> = (-4..=4).map(|it| 2 * it).collect();
    let grid =
        |scales| Abstraction { k: 2, single: even.clone(), pair: even.clone(), scales, ..Abstraction::default() };
    scales.map(grid).collect()
}

/// Sums of what is in memory and registers, bounded by a few constants.
fn sums(program: &Program) -> Vec<Predicate> {
    let memory = program.locations().indices().map(Site::Memory);
    let registers = program.processes().iter_enumerated();
    let registers = registers.flat_map(|(p, it)| it.registers.indices().map(move |r| Site::Register(p, r)));
    let sites: Vec<Site> = memory.take(1).chain(registers.take(2)).collect();
    let pairs = sites.iter().enumerate().flat_map(|(i, &a)| sites[..i].iter().map(move |&b| (a, b)));
    let signs = pairs.flat_map(|(a, b)| [1, -1].map(|sign| vec![(sign, a), (sign, b)]));
    signs.map(|sum| Predicate { coefficients: sum, bound: 1 }).collect()
}

fn is_accepted(program: &Program, model: Model, pso_rmw: PsoRmw, grid: &Abstraction) -> bool {
    let question = Question::Safety;
    let subject = Subject { tool: String::new(), program: digest(program), model, pso_rmw, question };
    let claim = Claim::Safe(Placement::NONE, Proof::Abstraction(grid.clone()));
    // Linear constraints take much longer.
    let hurry = Hurried { max_steps: if grid.predicates.is_empty() { 40_000 } else { 1_000 } };
    verify(program, &Certificate { subject, claim }, &hurry).is_ok()
}

/// Waits for so many steps.
struct Hurried {
    max_steps: u64,
}

impl Monitor for Hurried {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        (progress.explored > self.max_steps).then_some(Stop::Asked)
    }
}
