//! Laws of the engines for unbounded integers, tried on random programs.
//!
//! They may say that they do not know; that is counted, and must be rare. They may never be wrong.
//! `FENCEWRIGHT_LAWS=10000` tries more, `FENCEWRIGHT_SEED=7` starts elsewhere.

use std::cell::Cell;

use fencewright::engine::backward::load_buffer::LoadBuffer;
use fencewright::engine::predicates::{K, KEEP, Predicates};
use fencewright::engine::zones::ZonesEngine;
use fencewright::engine::{Engine, Keep, Options, StopReason, Task, Verdict};
use fencewright::memory::{Dialect, Model};
use fencewright::program::{Placement, Program};
use fencewright::watch::{Monitor, Progress, Stop};

use crate::common::expectation::{Expectations, Expected, examples, root};
use crate::common::integers::{Arithmetic, Integers};
use crate::common::law::{
    MAX_STATES, MODELS, check, is_taken, is_thorough, n_programs, of_many, program, program_of, seed,
};
use crate::common::oracle::{Truth, first_registers, truth};
use crate::common::random::{Random, Shape};

/// The engines, what each is called here, and which stores it keeps in order.
static ENGINES: [(&str, &dyn Engine, Keep); 3] = [
    ("zones", &ZonesEngine, Keep::Newest),
    ("predicates", &Predicates, Keep::Newest),
    ("predicates, oldest", &Predicates, Keep::Oldest),
];

/// So many of them, the first, take only differences.
const DIFFERENCES_ONLY: usize = 1;

#[test]
fn finite_programs_read_with_integers_mean_the_same() {
    let tally = Tally::from(0);
    check("finite programs with integers", Shape { max_ops: 4, has_loops: true }, 8, |sample| {
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
fn differences_agree_with_the_semantics() {
    let tally = arithmetic_agrees(Arithmetic::Differences, 0, &[None]);
    tally.finish();
}

#[test]
fn linear_arithmetic_agrees_with_the_semantics() {
    let tally = arithmetic_agrees(Arithmetic::Linear, DIFFERENCES_ONLY, &[None]);
    tally.finish();
}

#[test]
fn remainders_agree_with_the_semantics() {
    let tally = arithmetic_agrees(Arithmetic::Remainders, 0, &[None]);
    tally.finish();
}

/// Quotients have scales, which do not always fit; what is taken is right.
#[test]
fn quotients_agree_with_the_semantics() {
    let tally = arithmetic_agrees(Arithmetic::Quotients, 0, &[None]);
    println!("{:?}", tally.counts);
    for counts in &tally.counts {
        let (safe, unsafe_, unknown) = (counts.safe.get(), counts.unsafe_.get(), counts.unknown.get());
        let all = safe + unsafe_ + unknown;
        of_many(safe > all / 20 && unsafe_ > all / 20, &format!("the programs tell nothing: {counts:?}"));
    }
}

/// With few stores in order much is not known, but nothing is missed.
#[test]
fn summed_up_buffers_miss_no_run() {
    let tally = arithmetic_agrees(Arithmetic::Differences, DIFFERENCES_ONLY, &[Some(0), Some(1)]);
    println!("{:?}", tally.counts);
    for counts in &tally.counts {
        let (safe, unsafe_, unknown) = (counts.safe.get(), counts.unsafe_.get(), counts.unknown.get());
        of_many(safe > unknown && unsafe_ > unknown, &format!("too little is decided: {counts:?}"));
    }
}

/// The engines from this one on say of random programs what the semantics says, whatever `k` is.
fn arithmetic_agrees(arithmetic: Arithmetic, first_engine: usize, ks: &[Option<u32>]) -> Tally {
    let n_samples = n_programs() / 5;
    let seed = seed();
    let tally = Tally {
        may_refuse: matches!(arithmetic, Arithmetic::Quotients | Arithmetic::Remainders),
        ..Tally::from(first_engine)
    };
    let law = |sample: &Integers| -> Result<(), String> {
        let program = program_of(sample.text())?;
        for (model, pso_rmw) in MODELS {
            let dialect = Dialect { pso_rmw };
            let expected = match truth(&program, &Placement::NONE, model, dialect, MAX_STATES) {
                Truth::Safe => Said::Safe,
                Truth::Unsafe => Said::Unsafe,
                Truth::TooLarge => continue,
            };
            for &k in ks {
                let options = Options { dialect, ..Options::default() };
                let options = k.map_or(options.clone(), |k| options.with_count(&K, k));
                tally.compare(expected, &program, model, &options)?;
            }
        }
        Ok(())
    };
    for i in 0..n_samples {
        let mut random = Random(seed.wrapping_mul(7_000_003).wrapping_add(i));
        let mut sample = Integers::new(&mut random, arithmetic);
        ask_for_weak(&mut sample, &mut random);
        if law(&sample).is_err() {
            let small = sample.shrunk(|candidate| law(candidate).is_err());
            panic!("seed {seed}, program {i}: {}\n\n{}", law(&small).expect_err("it still fails"), small.text());
        }
    }
    tally
}

/// The examples, traps among them, say what must come out; that does not change when ranges are read as integers.
#[test]
fn examples_read_with_integers_mean_the_same() {
    let tally = Tally::from(0);
    let root = root();
    for path in examples(&root).into_iter().enumerate().filter(|(i, _)| is_taken(*i)).map(|(_, path)| path) {
        let text = std::fs::read_to_string(&path).expect("an example is text");
        let expectations = Expectations::read(&text).unwrap_or_default();
        let is_fw = path.extension().is_some_and(|extension| extension == "fw");
        let Some(program) = program_of(with_integers(&text)).ok().filter(|_| is_fw) else { continue };
        for (model, expected) in expectations.verdicts {
            let expected = match expected {
                Expected::Safe => Said::Safe,
                Expected::Unsafe => Said::Unsafe,
            };
            let task = Task { program: &program, placement: &Placement::NONE, model, options: &Options::default() };
            if ENGINES.iter().any(|(_, engine, _)| engine.check(&task, &Glance).is_err()) {
                continue;
            }
            let found = tally.compare(expected, &program, model, &Options::default());
            assert!(found.is_ok(), "{}: {}", path.display(), found.expect_err("it is wrong"));
        }
    }
    println!("{:?}", tally.counts);
    for counts in &tally.counts {
        assert!(counts.safe.get() + counts.unsafe_.get() > if is_thorough() { 500 } else { 150 }, "{counts:?}");
    }
}

/// A program with its ranges read as integers, save where any value may be the first.
fn with_integers(text: &str) -> String {
    let line = |line: &str| {
        let is_declaration = line.starts_with("shared ") || line.trim_start().starts_with("let ");
        match line.find(": 0..") {
            Some(at) if is_declaration && !line.contains("any") => {
                let rest = &line[at + ": 0..".len()..];
                let end = rest.find([' ', ';']).unwrap_or(rest.len());
                format!("{}: int{}\n", &line[..at], &rest[end..])
            }
            Some(_) | None => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}

/// Programs that random ones seldom are, each of which tells a wrong fact about the flow or memory from a right one.
const TRAPS: &[&str] = &[
    // T13: a search starts with what memory holds, not with anything.
    "shared x: int = 0;
     thread A { let r: int = 0; r = x; }
     forbid A.r == 1;",
    // A thread that gets stuck has still stored.
    "shared x: int = 0;
     thread A { let r: int = 0; x = 1; assume(r == 5); r = 2; }
     thread B { let s: int = 0; s = x; }
     forbid B.s == 1;",
    // A stale load does not find what memory holds now, though it holds only what the load may find.
    "shared x, y: int = 0;
     thread A { let r: int = 0; y = 1; r = x; }
     thread B { let s: int = 0; atomic { s = y; if (s == 0) { x = 5; } } }
     forbid A.r == 0 && x == 5 at end;",
    // The same where it may find more.
    "shared x, y: int = 0;
     thread A { let r: int = 0; y = 1; r = x; }
     thread B { let s: int = 0; s = fetch_add(y, 0); if (s == 0) { x = 5; } }
     forbid A.r < 5 && x == 5 at end;",
    // What falls was greater before.
    "shared x, y: int = 3;
     thread A { let r: int = 0; y = 1; r = x; }
     thread B { let s: int = 0; x = 2; fence; s = y; }
     forbid A.r == 3 && B.s == 3;",
    // A pending store of a sole writer is not in memory yet.
    "shared x, y: int = 0;
     thread A { let k: int = 1; x = k; y = k; }
     thread B { let r: int = 0; let s: int = 0; r = y; s = x; }
     forbid B.r == 1 && B.s == 0;",
];

/// Programs whose only bad run needs stores that are summed up.
const BUFFER_TRAPS: &[&str] = &[
    // A store that is summed up with a later one to its location reaches memory all the same.
    "shared x, y: int = 0;
     thread A { let a: int = 1; x = 1; x = 2; a = y; }
     thread B { let p: int = 9; let q: int = 9; let r: int = 9; y = 1; fence; p = x; q = x; r = x; }
     forbid A.a == 0 && B.p == 0 && B.q == 1 && B.r == 2;",
    // What comes behind stores that are summed up stays behind them, though there is room in front.
    "shared x, y, z, u: int = 0;
     thread A { let a: int = 9; let b: int = 9; let c: int = 9; x = 1; x = 2; a = y; b = u; x = 3; c = z; }
     thread B { let p: int = 9; let q: int = 9; let r: int = 9; let s: int = 9; let t: int = 9;
         y = 1; fence; p = x; q = x; u = 1; z = 1; fence; r = x; s = x; t = x; }
     forbid A.a == 0 && A.b == 1 && A.c == 0 && B.p == 0 && B.q == 1 && B.r == 1 && B.s == 2 && B.t == 3;",
];

#[test]
fn traps_are_as_the_semantics_says() {
    let tally = Tally::from(0);
    for text in TRAPS {
        let program = program_of((*text).to_owned()).unwrap_or_else(|errors| panic!("{errors}"));
        for (model, pso_rmw) in MODELS {
            let options = Options { dialect: Dialect { pso_rmw }, ..Options::default() };
            let expected = match truth(&program, &Placement::NONE, model, options.dialect, MAX_STATES) {
                Truth::Safe => Said::Safe,
                Truth::Unsafe => Said::Unsafe,
                Truth::TooLarge => panic!("{text}"),
            };
            let found = tally.compare(expected, &program, model, &options);
            assert!(found.is_ok(), "{}\n{text}", found.expect_err("it is wrong"));
        }
    }
    tally.finish();
}

#[test]
fn no_run_is_missed_where_stores_are_summed_up() {
    for text in BUFFER_TRAPS {
        let program = program_of((*text).to_owned()).unwrap_or_else(|errors| panic!("{errors}"));
        for (model, k) in [Model::Tso, Model::Pso].into_iter().flat_map(|it| [0, 1, 2].map(|k| (it, k))) {
            let options = Options::default().with_count(&K, k);
            let found = Tally::from(DIFFERENCES_ONLY).compare(Said::Unsafe, &program, model, &options);
            assert!(found.is_ok(), "{}, k = {k}\n{text}", found.expect_err("it is wrong"));
        }
    }
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

/// A verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Safe,
    Unsafe,
}

/// How often an engine has answered, and what.
#[derive(Debug, Default)]
struct Counts {
    safe: Cell<u32>,
    unsafe_: Cell<u32>,
    unknown: Cell<u32>,
}

/// The same for the engines from one on.
struct Tally {
    /// Whether a program may be refused.
    may_refuse: bool,
    engines: &'static [(&'static str, &'static dyn Engine, Keep)],
    counts: Vec<Counts>,
}

impl Tally {
    fn from(first: usize) -> Self {
        let engines = &ENGINES[first..];
        Self { may_refuse: false, engines, counts: engines.iter().map(|_| Counts::default()).collect() }
    }

    fn compare(&self, expected: Said, program: &Program, model: Model, options: &Options) -> Result<(), String> {
        for ((name, engine, keep), counts) in self.engines.iter().zip(&self.counts) {
            let options = &options.clone().with_name(&KEEP, keep.name());
            if self.may_refuse && engine.check(&Task::new(program, model, options), &Glance).is_err() {
                counts.unknown.set(counts.unknown.get() + 1);
                continue;
            }
            let found = said(*engine, program, model, options)?;
            let count = match found {
                Some(Said::Safe) => &counts.safe,
                Some(Said::Unsafe) => &counts.unsafe_,
                None => &counts.unknown,
            };
            count.set(count.get() + 1);
            if found.is_some_and(|found| found != expected) {
                let rmw = options.dialect.pso_rmw;
                return Err(format!("{model}, {rmw:?}: {name} says {found:?}, but it is {expected:?}"));
            }
        }
        Ok(())
    }

    /// Few programs were not decided.
    fn finish(&self) {
        println!("{:?}", self.counts);
        for counts in &self.counts {
            let (safe, unsafe_, unknown) = (counts.safe.get(), counts.unsafe_.get(), counts.unknown.get());
            let all = safe + unsafe_ + unknown;
            of_many(safe > all / 20 && unsafe_ > all / 20, &format!("the programs tell nothing: {counts:?}"));
            of_many(unknown <= all / 20, &format!("too little is decided: {counts:?}"));
        }
    }
}

/// What an engine says; `None` if it does not know.
fn said(engine: &dyn Engine, program: &Program, model: Model, options: &Options) -> Result<Option<Said>, String> {
    let task = Task::new(program, model, options);
    match engine.check(&task, &Patience).map(|answer| answer.verdict) {
        Ok(Verdict::Safe) => Ok(Some(Said::Safe)),
        Ok(Verdict::Unsafe(_)) => Ok(Some(Said::Unsafe)),
        Ok(Verdict::Unknown(StopReason::Defect(what))) => Err(format!("{}/{model}: {what}", engine.name())),
        Ok(Verdict::Unknown(_)) => Ok(None),
        Err(unsupported) => Err(format!("{}/{model}: {unsupported}", engine.name())),
    }
}

/// Gives a search no time: only whether it takes the program is of interest.
struct Glance;

impl Monitor for Glance {
    fn poll(&self, _progress: &Progress) -> Option<Stop> {
        Some(Stop::Asked)
    }
}

/// Gives a search so many constraints.
struct Patience;

impl Monitor for Patience {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        (progress.explored > 3_000).then_some(Stop::Asked)
    }
}
