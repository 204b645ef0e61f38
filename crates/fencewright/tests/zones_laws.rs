//! Laws of the engine for unbounded integers, tried on random programs.
//!
//! It may say that it does not know; that is counted, and must be rare. It may never be wrong.
//! `FENCEWRIGHT_LAWS=10000` tries more, `FENCEWRIGHT_SEED=7` starts elsewhere.

mod common;

use std::cell::Cell;

use common::integers::Integers;
use common::law::{MAX_STATES, check, program, program_of};
use common::oracle::{Truth, first_registers, truth};
use common::random::{Random, Shape};
use fencewright::engine::backward::load_buffer::LoadBuffer;
use fencewright::engine::zones::ZonesEngine;
use fencewright::engine::{Engine, Monitor, Options, Progress, StopReason, Task, Verdict};
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
fn finite_programs_read_with_integers_mean_the_same() {
    let tally = Tally::default();
    check("finite programs with integers", Shape { max_ops: 4, has_loops: true }, 4, |sample| {
        let finite = program(sample)?;
        let integers = program_of(sample.text_with_integers())?;
        for (model, pso_rmw) in MODELS {
            let options = Options { dialect: Dialect { pso_rmw }, ..Options::default() };
            if let Some(expected) = said(&LoadBuffer, &finite, model, &options)? {
                tally.compare(expected, &integers, model, &options)?;
            }
        }
        Ok(())
    });
    tally.finish();
}

#[test]
fn arithmetic_agrees_with_the_semantics() {
    let n_samples = number("FENCEWRIGHT_LAWS").unwrap_or(2_000) / 2;
    let seed = number("FENCEWRIGHT_SEED").unwrap_or(1);
    let tally = Tally::default();
    let law = |sample: &Integers| -> Result<(), String> {
        let program = program_of(sample.text())?;
        for (model, pso_rmw) in MODELS {
            let options = Options { dialect: Dialect { pso_rmw }, ..Options::default() };
            let expected = match truth(&program, &Placement::NONE, model, options.dialect, MAX_STATES) {
                Truth::Safe => Said::Safe,
                Truth::Unsafe => Said::Unsafe,
                Truth::TooLarge => continue,
            };
            tally.compare(expected, &program, model, &options)?;
        }
        Ok(())
    };
    for i in 0..n_samples {
        let mut random = Random(seed.wrapping_mul(7_000_003).wrapping_add(i));
        let mut sample = Integers::new(&mut random);
        ask_for_weak(&mut sample, &mut random);
        if law(&sample).is_err() {
            let small = sample.shrunk(|candidate| law(candidate).is_err());
            panic!("seed {seed}, program {i}: {}\n\n{}", law(&small).expect_err("it still fails"), small.text());
        }
    }
    tally.finish();
}

/// Most programs get a property that tells models apart, if they have such an outcome.
fn ask_for_weak(sample: &mut Integers, random: &mut Random) {
    let Ok(program) = program_of(sample.text()) else { return };
    let [Some(sc), Some(tso), Some(pso)] = Model::ALL.map(|model| first_registers(&program, model, MAX_STATES)) else {
        return;
    };
    let (only_tso, only_pso): (Vec<_>, Vec<_>) = (tso.difference(&sc).collect(), pso.difference(&tso).collect());
    let weak = if only_pso.is_empty() || random.chance(50) { only_tso } else { only_pso };
    if !weak.is_empty() && random.chance(80) {
        sample.ask_for(weak[random.below(weak.len())]);
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

/// A verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Safe,
    Unsafe,
}

/// How often the engine has answered, and what.
#[derive(Debug, Default)]
struct Tally {
    safe: Cell<u32>,
    unsafe_: Cell<u32>,
    unknown: Cell<u32>,
}

impl Tally {
    fn compare(&self, expected: Said, program: &Program, model: Model, options: &Options) -> Result<(), String> {
        let found = said(&ZonesEngine, program, model, options)?;
        let count = match found {
            Some(Said::Safe) => &self.safe,
            Some(Said::Unsafe) => &self.unsafe_,
            None => &self.unknown,
        };
        count.set(count.get() + 1);
        if found.is_some_and(|found| found != expected) {
            let rmw = options.dialect.pso_rmw;
            return Err(format!("{model}, {rmw:?}: zones says {found:?}, but it is {expected:?}"));
        }
        Ok(())
    }

    /// Few programs were not decided.
    fn finish(&self) {
        let all = self.safe.get() + self.unsafe_.get() + self.unknown.get();
        println!("{self:?}");
        assert!(self.safe.get() > all / 20 && self.unsafe_.get() > all / 20, "the programs tell nothing: {self:?}");
        assert!(self.unknown.get() <= all / 20, "too little is decided: {self:?}");
    }
}

/// What an engine says; `None` if it does not know.
fn said(engine: &dyn Engine, program: &Program, model: Model, options: &Options) -> Result<Option<Said>, String> {
    let task = Task { program, placement: &Placement::NONE, model, options };
    match engine.check(&task, &Patience).map(|answer| answer.verdict) {
        Ok(Verdict::Safe) => Ok(Some(Said::Safe)),
        Ok(Verdict::Unsafe(_)) => Ok(Some(Said::Unsafe)),
        Ok(Verdict::Unknown(StopReason::Defect(what))) => Err(format!("{}/{model}: {what}", engine.name())),
        Ok(Verdict::Unknown(_)) => Ok(None),
        Err(unsupported) => Err(format!("{}/{model}: {unsupported}", engine.name())),
    }
}

/// Gives a search so many constraints.
struct Patience;

impl Monitor for Patience {
    fn poll(&self, progress: &Progress) -> Option<StopReason> {
        (progress.explored > 3_000).then_some(StopReason::Interrupted)
    }
}
