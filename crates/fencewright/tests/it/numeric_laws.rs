//! Laws of `numeric`, tried on random programs: whatever the domain and the translation, it is never wrong.
//!
//! It may say that it does not know; that is counted. `FENCEWRIGHT_LAWS=20000` tries more, `FENCEWRIGHT_SEED=7` starts
//! elsewhere.

use std::cell::Cell;

use fencewright::engine::backward::load_buffer::LoadBuffer;
use fencewright::engine::numeric::{BOUND, BUFFERS, DOMAIN, name_of};
use fencewright::engine::{Engine, NUMERIC, Numbers, Options, StopReason, Task, Verdict};
use fencewright::memory::{Dialect, Model, PsoRmw};
use fencewright::program::{Placement, Program};
use fencewright::translate::Method;
use fencewright::watch::{Monitor, Progress, Stop, Unlimited};

use crate::common::expectation::root;
use crate::common::integers::{Arithmetic, Integers};
use crate::common::law::{MAX_STATES, MODELS, check, check_weak, n_programs, of_many, program, program_of, seed};
use crate::common::oracle::{Truth, truth};
use crate::common::random::{Random, Sample, Shape};

/// Laws are tried on fewer programs than those of the semantics, since each is asked about twelve times or more.
const FEWER: u64 = 40;

/// Polyhedra are slow, and asked about one question in so many.
const RARELY: u32 = 41;

const WITH_LOOPS: Shape = Shape { max_ops: 4, has_loops: true };
const WITHOUT_LOOPS: Shape = Shape { max_ops: 4, has_loops: false };

#[test]
fn finite_programs() {
    let tally = Tally::default();
    check("numeric on finite programs", WITHOUT_LOOPS, FEWER, |sample| tally.finite(sample, &MODELS, &[None, Some(1)]));
    tally.decides_one_in(2);
}

#[test]
fn races_under_tso() {
    let tally = Tally::default();
    let law = |sample: &Sample| tally.finite(sample, &MODELS[1..2], &[None]);
    check_weak("numeric on TSO races", WITHOUT_LOOPS, Model::Tso, FEWER, law);
    tally.decides_one_in(3);
}

#[test]
fn races_under_pso() {
    let tally = Tally::default();
    let law = |sample: &Sample| tally.finite(sample, &MODELS[2..], &[None]);
    check_weak("numeric on PSO races", WITHOUT_LOOPS, Model::Pso, FEWER, law);
    tally.decides_one_in(3);
}

/// The same data, kept exactly and as numbers.
#[test]
fn programs_with_loops() {
    let (exact, numbers) = (Tally::default(), Tally::default());
    check("numeric on loops", WITH_LOOPS, FEWER, |sample| {
        let finite = program(sample)?;
        let integers = program_of(sample.text_with_integers())?;
        for (model, pso_rmw) in MODELS {
            let dialect = Dialect { pso_rmw };
            let options = Options { dialect, ..Options::default() };
            if let Some(expected) = said(&LoadBuffer, &finite, model, &options)? {
                exact.compare(expected, &finite, model, &options)?;
                numbers.compare(expected, &integers, model, &options)?;
            }
        }
        Ok(())
    });
    exact.decides_one_in(2);
    numbers.decides_one_in(2);
}

#[test]
fn linear_arithmetic() {
    let tally = Tally::default();
    let (n_samples, seed) = (n_programs() / FEWER, seed());
    let law = |sample: &Integers| -> Result<(), String> {
        let program = program_of(sample.text())?;
        MODELS.into_iter().try_for_each(|(model, pso_rmw)| tally.agrees(&program, model, Dialect { pso_rmw }, &[None]))
    };
    for i in 0..n_samples {
        let mut random = Random(seed.wrapping_mul(9_000_011).wrapping_add(i));
        let arithmetic = if i % 2 == 0 { Arithmetic::Differences } else { Arithmetic::Linear };
        let sample = Integers::new(&mut random, arithmetic);
        if law(&sample).is_err() {
            let small = sample.shrunk(|candidate| law(candidate).is_err());
            panic!("seed {seed}, program {i}: {}\n\n{}", law(&small).expect_err("it still fails"), small.text());
        }
    }
    tally.decides_one_in(2);
}

/// Programs whose bad runs a wrong rule misses.
const TRAPS: &[&str] = &[
    // T11: an overflow is inconclusive, not impossible.
    "shared x, y, z: int = 0;
     thread A { let a: int = 9; x = 1; y = 1; a = z; }
     thread B { let b: int = 9; z = 1; fence; b = x; }
     forbid A.a == 0 && B.b == 0;",
    // T22: the buffer of a thread that has ended still drains; so does that of one that is stuck.
    "shared x: int = 0;
     thread A { x = 1; }
     thread B { let b: int = 0; b = x; }
     forbid B.b == 1 at end;",
    "shared x: int = 0;
     thread A { let a: int = 0; x = 1; assume(a == 5); }
     thread B { let b: int = 0; b = x; }
     forbid B.b == 1;",
    // A thread that only goes on keeps nobody from being seen where it was.
    "shared x: int = 0;
     thread A { let a: int = 0; a = 1; here: a = 2; a = 3; }
     thread B { let b: int = 0; b = 1; there: b = 2; x = b; }
     forbid A@here && B@there;",
    // A sum that a domain cannot tell is any number.
    "shared x: int = 0;
     thread A { let a: int = 0; let b: int = 0; a = x; b = a * a + a % 3; assert(b < 2); }
     thread B { x = 1; x = 2; }",
    // A value outside its range is a violation, whether it is kept exactly or as a number.
    "shared x: 0..1 = 0;
     thread A { let a: 0..1 = 0; a = x; x = a + 1; }
     thread B { let b: 0..1 = 0; b = x; x = b + 1; }
     forbid x == 0 at end;",
    "shared x: 0..40 = 39;
     thread A { let a: 0..40 = 0; a = x; x = a + 1; }
     thread B { let b: 0..40 = 0; b = x; x = b + 1; }
     forbid x == 0 at end;",
    // So is an index outside its array.
    "shared x[2]: 0..1 = 0; shared i: int = 0;
     thread A { let a: int = 0; a = i; x[a] = 1; }
     thread B { i = 1; i = 2; }
     forbid i == 7 at end;",
    // Nothing need happen for a violation.
    "shared x: int = 0;
     thread A { let a: int = 0; here: x = a; a = x; }
     thread B { let b: int = 0; there: x = b; b = x; }
     forbid A@here && B@there && A.a == 0;",
    // What is divided by zero has no value.
    "shared x: int = 1;
     thread A { let a: int = 0; a = x; a = 4 / a; }
     thread B { x = 0; }
     forbid x == 5 at end;",
    // What grows for ever gets beyond every threshold.
    "shared x: int = 0;
     thread A { let a: int = 0; while (a < 40) { a = a + 1; } x = a; }
     thread B { let b: int = 0; b = x; assert(b != 40); }",
];

#[test]
fn traps() {
    let tally = Tally::default();
    for text in TRAPS {
        let program = program_of((*text).to_owned()).unwrap_or_else(|errors| panic!("{errors}"));
        for (model, pso_rmw) in MODELS {
            let found = tally.agrees(&program, model, Dialect { pso_rmw }, &[None, Some(1), Some(2)]);
            assert!(found.is_ok(), "{}\n{text}", found.expect_err("it is wrong"));
        }
    }
    assert!(tally.unsafe_.get() > 100, "{tally:?}");
}

/// Every comparison, with one value below, one equal and one above, and both of its sides.
#[test]
fn comparisons() {
    let tally = Tally::default();
    for (op, value) in ["<", "<=", ">", ">=", "==", "!="].into_iter().flat_map(|op| (0..3).map(move |it| (op, it))) {
        for (label, other) in [("here", "there"), ("there", "here")] {
            let text = format!(
                "shared x: int = 0;
                 thread A {{ let a: int = 0; a = x; if (a {op} 1) {{ here: a = a; }} else {{ there: a = a; }} }}
                 thread B {{ x = 1; x = 2; }}
                 forbid A@{label} && A.a == {value}; forbid A@{other} && A.a == 5;"
            );
            let program = program_of(text).unwrap_or_else(|errors| panic!("{errors}"));
            let found = tally.agrees(&program, Model::Tso, Dialect::default(), &[None]);
            assert!(found.is_ok(), "{op} {value} {label}: {}", found.expect_err("it is wrong"));
        }
        let text = format!(
            "shared x: int = {value};
             thread A {{ let a: int = 0; a = x; assert(a {op} 1); }}
             thread B {{ x = {value}; }}"
        );
        let program = program_of(text).unwrap_or_else(|errors| panic!("{errors}"));
        let found = tally.agrees(&program, Model::Tso, Dialect::default(), &[None]);
        assert!(found.is_ok(), "{op} {value}: {}", found.expect_err("it is wrong"));
    }
    assert_eq!(tally.unknown.get(), 0, "{tally:?}");
}

/// Loops that store one thing and another without end overflow any number of slots; that is no proof.
#[test]
fn an_overflow_is_unknown() {
    let text =
        "shared x: 0..1 = 0; thread A { while (true) { x = 1; x = 0; } } thread B { let b = x; } forbid B.b == 2;";
    let program = program_of(text.replace("0..1", "0..2")).unwrap_or_else(|errors| panic!("{errors}"));
    for buffers in Method::ALL {
        let options = Options::default().with_name(&BUFFERS, name_of(buffers)).with_count(&BOUND, 3);
        let task = Task::new(&program, Model::Tso, &options);
        let verdict = NUMERIC.check(&task, &Patience(1_000)).expect("it takes every program").verdict;
        assert!(matches!(verdict, Verdict::Unknown(StopReason::Slots(3))), "{verdict:?}");
    }
}

/// Unbounded programs that it proves, and with which domain at least.
const PROVED: &[(&str, Model, Numbers)] = &[
    ("integers/sum_of_two.fw", Model::Tso, Numbers::Interval),
    ("integers/transfer.fw", Model::Pso, Numbers::Octagon),
    ("integers/bakery_unbounded_fenced.fw", Model::Tso, Numbers::Zone),
    ("integers/bakery_unbounded_fenced.fw", Model::Pso, Numbers::Zone),
    ("integers/concloop_unbounded_fenced.fw", Model::Pso, Numbers::Zone),
    ("integers/peterson_fenced.fw", Model::Tso, Numbers::Zone),
    ("integers/published_double.fw", Model::Tso, Numbers::Polyhedra),
    // A sender that repeats its message until it is acknowledged fills no buffer.
    ("papers/abp.fw", Model::Pso, Numbers::Interval),
];

#[test]
fn unbounded_programs_are_proved() {
    for (name, model, domain) in PROVED {
        let text = std::fs::read_to_string(root().join("examples").join(name)).expect("an example is text");
        let program = program_of(text).unwrap_or_else(|errors| panic!("{errors}"));
        let options = Options::default().with_name(&DOMAIN, domain.name());
        let task = Task::new(&program, *model, &options);
        let verdict = NUMERIC.check(&task, &Unlimited).expect("it takes every program").verdict;
        assert!(matches!(verdict, Verdict::Safe), "{name}: {verdict:?}");
    }
}

/// A verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Safe,
    Unsafe,
}

/// How often it has answered, and what.
#[derive(Debug, Default)]
struct Tally {
    safe: Cell<u32>,
    unsafe_: Cell<u32>,
    unknown: Cell<u32>,
    asked: Cell<u32>,
}

impl Tally {
    fn finite(&self, sample: &Sample, models: &[(Model, PsoRmw)], bounds: &[Option<u32>]) -> Result<(), String> {
        let program = program(sample)?;
        let integers = program_of(sample.text_with_integers())?;
        for &(model, pso_rmw) in models {
            let dialect = Dialect { pso_rmw };
            self.agrees(&program, model, dialect, bounds)?;
            self.agrees(&integers, model, dialect, bounds)?;
        }
        Ok(())
    }

    /// It says nothing but what the semantics says.
    fn agrees(&self, program: &Program, model: Model, dialect: Dialect, bounds: &[Option<u32>]) -> Result<(), String> {
        let expected = match truth(program, &Placement::NONE, model, dialect, MAX_STATES) {
            Truth::Safe => Said::Safe,
            Truth::Unsafe => Said::Unsafe,
            Truth::TooLarge => return Ok(()),
        };
        bounds.iter().try_for_each(|bound| {
            let options = Options { dialect, ..Options::default() };
            let options = bound.map_or(options.clone(), |bound| options.with_count(&BOUND, bound));
            self.compare(expected, program, model, &options)
        })
    }

    fn compare(&self, expected: Said, program: &Program, model: Model, options: &Options) -> Result<(), String> {
        let is_rare = !self.asked.get().is_multiple_of(RARELY);
        self.asked.set(self.asked.get() + 1);
        let domains = Numbers::ALL.into_iter().filter(|&domain| !(is_rare && domain == Numbers::Polyhedra));
        for (domain, buffers) in domains.flat_map(|it| Method::ALL.map(|method| (it, method))) {
            let found = said(
                &NUMERIC,
                program,
                model,
                &options.clone().with_name(&DOMAIN, domain.name()).with_name(&BUFFERS, name_of(buffers)),
            )?;
            let count = match found {
                Some(Said::Safe) => &self.safe,
                Some(Said::Unsafe) => &self.unsafe_,
                None => &self.unknown,
            };
            count.set(count.get() + 1);
            if found.is_some_and(|found| found != expected) {
                let how = format!("{model}, {domain:?}, {buffers:?}, {:?}", options.count(&BOUND));
                return Err(format!("{how}: `numeric` says {found:?}, but it is {expected:?}"));
            }
        }
        Ok(())
    }

    /// At least one question in so many is decided, and both verdicts are among the answers.
    fn decides_one_in(&self, n: u32) {
        println!("{self:?}");
        let (safe, unsafe_, unknown) = (self.safe.get(), self.unsafe_.get(), self.unknown.get());
        of_many(n * (safe + unsafe_) > safe + unsafe_ + unknown, &format!("too little is decided: {self:?}"));
        of_many(safe > 0 && unsafe_ > 0, &format!("the programs tell nothing: {self:?}"));
    }
}

/// What an engine says; `None` if it does not know.
fn said(engine: &dyn Engine, program: &Program, model: Model, options: &Options) -> Result<Option<Said>, String> {
    let task = Task::new(program, model, options);
    match engine
        .check(&task, &Patience::with(options.choice(&DOMAIN, &Numbers::ALL, Numbers::name)))
        .map(|answer| answer.verdict)
    {
        Ok(Verdict::Safe) => Ok(Some(Said::Safe)),
        Ok(Verdict::Unsafe(_)) => Ok(Some(Said::Unsafe)),
        Ok(Verdict::Unknown(StopReason::Defect(what))) => Err(format!("{}/{model}: {what}", engine.name())),
        Ok(Verdict::Unknown(_)) => Ok(None),
        Err(unsupported) => Err(format!("{}/{model}: {unsupported}", engine.name())),
    }
}

/// Gives a search so many keys or constraints.
struct Patience(u64);

impl Patience {
    /// Polyhedra take longer.
    fn with(domain: Numbers) -> Self {
        Self(match domain {
            Numbers::Interval | Numbers::Zone | Numbers::Octagon => 1_000,
            Numbers::Polyhedra => 250,
        })
    }
}

impl Monitor for Patience {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        (progress.explored > self.0).then_some(Stop::Asked)
    }
}
