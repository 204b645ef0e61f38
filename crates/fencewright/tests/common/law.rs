//! A law tried on random programs.

use std::collections::BTreeSet;

use fencewright::engine::{ALL, Engine};
use fencewright::frontend::fw;
use fencewright::frontend::lower::lower;
use fencewright::memory::{Dialect, Model, PsoRmw};
use fencewright::program::{Program, Value};
use fencewright::source::{Source, Style, render};

use super::oracle::{configurations, first_registers};
use super::random::{Random, Sample, Shape};
use super::shrink::shrink;

/// The oracle gives up beyond this many states.
pub(crate) const MAX_STATES: usize = 10_000;

/// Models, and what atomic updates wait for.
pub(crate) const MODELS: [(Model, PsoRmw); 4] = [
    (Model::Sc, PsoRmw::Location),
    (Model::Tso, PsoRmw::Location),
    (Model::Pso, PsoRmw::Location),
    (Model::Pso, PsoRmw::All),
];

/// Tries a law on random programs, fewer by the given factor.
pub(crate) fn check(name: &str, shape: Shape, fewer: u64, law: impl Fn(&Sample) -> Result<(), String>) {
    let draw = |random: &mut Random| {
        let mut sample = Sample::new(random, shape);
        sharpen(&mut sample, random);
        sample
    };
    check_drawn(name, draw, fewer, law);
}

/// Tries a law on random programs of which most go wrong under a model and not under stronger ones.
pub(crate) fn check_weak(
    name: &str,
    shape: Shape,
    model: Model,
    fewer: u64,
    law: impl Fn(&Sample) -> Result<(), String>,
) {
    let draw = |random: &mut Random| {
        let mut sample = Sample::racing(random, shape);
        ask_for_weak(&mut sample, random, model);
        sample
    };
    check_drawn(name, draw, fewer, law);
}

/// Tries a law on random programs in which buffered stores arrive one after the other before the eyes of a thread.
pub(crate) fn check_observed(name: &str, fewer: u64, law: impl Fn(&Sample) -> Result<(), String>) {
    check_drawn(name, Sample::observed, fewer, law);
}

/// Tries a law on random programs whose threads race by store buffering and message passing, most of them.
pub(crate) fn check_racing(name: &str, shape: Shape, fewer: u64, law: impl Fn(&Sample) -> Result<(), String>) {
    let draw = |random: &mut Random| match random.chance(60) {
        true => Sample::racing(random, shape),
        false => Sample::new(random, shape),
    };
    check_drawn(name, draw, fewer, law);
}

/// Tries a law on random programs whose threads wait for each other.
pub(crate) fn check_waiting(name: &str, fewer: u64, law: impl Fn(&Sample) -> Result<(), String>) {
    check_drawn(name, Sample::waiting, fewer, law);
}

/// Tries a law on random programs with an invariant of memory, most of which a weaker model breaks and a stronger one
/// does not.
pub(crate) fn check_invariants(name: &str, shape: Shape, fewer: u64, law: impl Fn(&Sample) -> Result<(), String>) {
    let draw = |random: &mut Random| {
        let is_racing = random.chance(60);
        let mut sample = if is_racing { Sample::racing(random, shape) } else { Sample::new(random, shape) };
        let any = (0..sample.threads.len()).map(|_| i64::from(random.chance(50))).collect();
        let held = (0..sample.n_locations).map(|_| i64::from(random.chance(50))).collect();
        let found = moments(&sample);
        sample.ask_for_memory(random, &(any, held));
        let Some([sc, tso, pso]) = found else { return sample };
        let weak = if random.chance(50) { tso.difference(&sc) } else { pso.difference(&tso) };
        let weak: Vec<_> = weak.collect();
        if !weak.is_empty() {
            let chosen = weak[random.below(weak.len())];
            sample.ask_for_memory(random, chosen);
        }
        sample
    };
    check_drawn(name, draw, fewer, law);
}

fn from_environment(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is `{value}`, which is no number")))
}

/// Where random choices start.
pub(crate) fn seed() -> u64 {
    from_environment("FENCEWRIGHT_SEED").unwrap_or(1)
}

/// How many programs a law is tried on, if it is not a costly one.
pub(crate) fn n_programs() -> u64 {
    from_environment("FENCEWRIGHT_LAWS").unwrap_or(200)
}

/// Whether all patience is wanted: where answers are recorded, and where laws are tried on many programs.
///
/// Otherwise what is recorded as undecided, which takes nearly all the time, is given a tenth of it: an answer that was
/// lost shows, one that was gained shows where it comes early.
pub(crate) fn is_thorough() -> bool {
    std::env::var_os("BLESS").is_some() || n_programs() >= 2_000
}

/// Whether one of many like things is taken: all where all is wanted, otherwise every fourth, others for other seeds.
pub(crate) fn is_taken(number: usize) -> bool {
    is_one_in(4, number)
}

/// The same for every so manieth.
pub(crate) fn is_one_in(every: u64, number: usize) -> bool {
    is_thorough() || (number as u64 + seed()).is_multiple_of(every)
}

/// Something that is so of many random programs, and may not be of a few.
pub(crate) fn of_many(holds: bool, what: &str) {
    assert!(holds || n_programs() < 2_000, "{what}");
}

fn check_drawn(
    name: &str,
    draw: impl Fn(&mut Random) -> Sample,
    fewer: u64,
    law: impl Fn(&Sample) -> Result<(), String>,
) {
    let n_samples = (n_programs() / fewer).max(1);
    let seed = seed();
    for i in 0..n_samples {
        let sample = draw(&mut Random(seed.wrapping_mul(1_000_003).wrapping_add(i)));
        if law(&sample).is_err() {
            let small = shrink(&sample, |candidate| law(candidate).is_err());
            let why = law(&small).expect_err("the shrinker keeps what fails");
            panic!("law `{name}` fails, seed {seed}, program {i}: {why}\n\n{}", small.text());
        }
    }
}

/// The engines that laws are tried on: all, or those that the environment names.
pub(crate) fn engines() -> Vec<&'static dyn Engine> {
    let named = std::env::var("FENCEWRIGHT_ENGINES").ok();
    let is_named = |engine: &&dyn Engine| match &named {
        Some(names) => names.split(',').any(|name| name == engine.name()),
        None => true,
    };
    ALL.iter().copied().filter(is_named).collect()
}

/// Most programs get a property that tells SC from TSO or TSO from PSO, if they have such an outcome: those are rare,
/// and a wrong rule shows there.
fn sharpen(sample: &mut Sample, random: &mut Random) {
    let Some([sc, tso, pso]) = outcomes(sample) else { return };
    let only_tso: Vec<_> = tso.difference(&sc).collect();
    let only_pso: Vec<_> = pso.difference(&tso).collect();
    let candidates =
        if !only_tso.is_empty() && (only_pso.is_empty() || random.chance(60)) { only_tso } else { only_pso };
    if !candidates.is_empty() && random.chance(80) {
        sample.ask_for(candidates[random.below(candidates.len())]);
    }
}

/// A program gets a property that tells a model from SC, if it has such an outcome; under PSO, from TSO where it can.
fn ask_for_weak(sample: &mut Sample, random: &mut Random, model: Model) {
    let Some([sc, tso, pso]) = outcomes(sample) else { return };
    let weak: Vec<_> = match model {
        Model::Sc | Model::Sra | Model::Ra | Model::Rc11(_) | Model::Foreign(_) => return,
        Model::Tso => tso.difference(&sc).collect(),
        Model::Pso if pso.len() > tso.len() && random.chance(60) => pso.difference(&tso).collect(),
        Model::Pso => pso.difference(&sc).collect(),
    };
    if !weak.is_empty() {
        sample.ask_for(weak[random.below(weak.len())]);
    }
}

/// What the threads can come to under each model.
fn outcomes(sample: &Sample) -> Option<[BTreeSet<Vec<Value>>; 3]> {
    let program = program(sample).ok()?;
    let [sc, tso, pso] = Model::ALL.map(|model| first_registers(&program, model, MAX_STATES));
    Some([sc?, tso?, pso?])
}

/// First registers, and memory.
type Moment = (Vec<Value>, Vec<Value>);

/// What the threads can have come to while memory holds what, under each model.
fn moments(sample: &Sample) -> Option<[BTreeSet<Moment>; 3]> {
    let program = program(sample).ok()?;
    let [sc, tso, pso] = Model::ALL.map(|model| {
        let found = configurations(&program, model, Dialect::default(), MAX_STATES)?;
        let leaves = |registers: &[Vec<Value>]| registers.iter().map(|registers| registers[0]).collect();
        Some(found.into_iter().map(|(_, registers, memory)| (leaves(&registers), memory)).collect())
    });
    Some([sc?, tso?, pso?])
}

/// The program of a sample.
pub(crate) fn program(sample: &Sample) -> Result<Program, String> {
    program_of(sample.text())
}

/// The program of a text.
pub(crate) fn program_of(text: String) -> Result<Program, String> {
    let source = Source::new("random.fw", text);
    let (file, mut diagnostics) = fw::parse(&source);
    let lowered = lower(&source, &file, &[]);
    diagnostics.extend(lowered.diagnostics);
    let errors: String =
        diagnostics.iter().filter(|it| it.is_error()).map(|it| render(&source, it, Style::Plain)).collect();
    match lowered.program {
        Some(program) if errors.is_empty() => Ok(program),
        Some(_) | None => Err(errors),
    }
}
