//! What release/acquire makes of other orders, against all executions of RC11 on random programs: seq_cst accesses,
//! relaxed ones beside fences, and plain data.
//!
//! The oracle walks every execution that the axioms of RC11 allow, one event after the other, and knows nothing of
//! messages. `ra` must say what it says; where a location has seq_cst accesses beside others, a search may say nothing.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

use fencewright::certificate::{Claim, verify};
use fencewright::engine::backward::potential::Potential;
use fencewright::engine::data_race::{ask_race, told};
use fencewright::engine::explicit::Explicit;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Engine, Options, StopReason, Task, Unsupported, Verdict, outcomes};
use fencewright::memory::{Model, Rc11, mixed};
use fencewright::program::{Placement, Program, StateVar, Value};
use fencewright::prove::{certify, certify_race};
use fencewright::system::{Outcome, System, starts};
use fencewright::watch::Unlimited;

use crate::common::law::{n_programs, of_many, program_of, seed};
use crate::common::random::Random;

const NAMES: [&str; 3] = ["x", "y", "z"];

/// What the accesses of a location are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Messages,
    Sequential,
    Mixed,
}

#[derive(Clone, Debug)]
enum Stmt {
    Load(usize, &'static str),
    /// A relaxed load with an acquire fence behind it.
    LoadThenFence(usize),
    Store(usize, usize, &'static str),
    /// A relaxed store with a release fence before it.
    FenceThenStore(usize, usize),
    Swap(usize, usize, &'static str),
    Cas(usize, usize, usize, &'static str),
    Fence(&'static str),
    Read,
    Write(usize),
    /// All that follows, if what was read last is this.
    If(usize),
}

type Sample = Vec<Vec<Stmt>>;

fn drawn(random: &mut Random) -> Sample {
    let n_threads = [2, 2, 2, 3, 3, 4][random.below(6)];
    let n_locations = 2 + usize::from(random.chance(30));
    let (has_mixed, has_plain) = (random.chance(40), random.chance(40));
    let modes: Vec<Mode> = (0..n_locations)
        .map(|_| match random.below(10) {
            0..4 => Mode::Messages,
            4..7 if has_mixed => Mode::Mixed,
            _ => Mode::Sequential,
        })
        .collect();
    let max = [4, 3, 2][n_threads - 2];
    let lengths: Vec<usize> = (0..n_threads).map(|_| 1 + random.below(max)).collect();
    lengths.into_iter().map(|n| body(random, &modes, (n, has_plain))).collect()
}

fn body(random: &mut Random, modes: &[Mode], (n, has_plain): (usize, bool)) -> Vec<Stmt> {
    let (mut out, mut has_read) = (Vec::new(), false);
    for _ in 0..n {
        if has_read && random.chance(35) {
            out.push(Stmt::If(random.below(2)));
        }
        let x = random.below(modes.len());
        let value = 1 + random.below(2);
        let is_sequential = match modes[x] {
            Mode::Messages => false,
            Mode::Sequential => true,
            Mode::Mixed => random.chance(50),
        };
        let of = |other| if is_sequential { "seq_cst" } else { other };
        let next = match random.below(if has_plain { 26 } else { 20 }) {
            0..6 => Stmt::Load(x, of("acquire")),
            6 if !is_sequential => Stmt::LoadThenFence(x),
            6..12 => Stmt::Store(x, value, of("release")),
            12 if !is_sequential => Stmt::FenceThenStore(x, value),
            12..14 => Stmt::Swap(x, value, of("acq_rel")),
            14..17 => Stmt::Cas(x, random.below(2), value, of("acq_rel")),
            17..20 => Stmt::Fence(["seq_cst", "seq_cst", "acquire", "release"][random.below(4)]),
            20..22 => Stmt::Read,
            _ => Stmt::Write(value),
        };
        has_read |=
            matches!(next, Stmt::Load(..) | Stmt::LoadThenFence(_) | Stmt::Swap(..) | Stmt::Cas(..) | Stmt::Read);
        out.push(next);
    }
    out
}

fn text(sample: &Sample) -> String {
    let mut out = String::from("shared x, y, z: 0..2 = 0;\nshared plain d: 0..2 = 0;\n");
    for (t, body) in sample.iter().enumerate() {
        let _ = writeln!(out, "thread T{t} {{");
        let (mut n_open, mut last) = (0, String::new());
        for (i, stmt) in body.iter().enumerate() {
            let x = |x: &usize| NAMES[*x];
            let _ = match stmt {
                Stmt::Load(at, order) => writeln!(out, "let r{i} = load({}, {order});", x(at)),
                Stmt::LoadThenFence(at) => writeln!(out, "let r{i} = load({}, relaxed);\nfence(acquire);", x(at)),
                Stmt::Store(at, value, order) => writeln!(out, "store({}, {value}, {order});", x(at)),
                Stmt::FenceThenStore(at, value) => {
                    writeln!(out, "fence(release);\nstore({}, {value}, relaxed);", x(at))
                }
                Stmt::Swap(at, value, order) => writeln!(out, "let r{i} = swap({}, {value}, {order});", x(at)),
                Stmt::Cas(at, old, new, order) => {
                    writeln!(out, "let r{i} = 0;\nif (cas({}, {old}, {new}, {order})) {{ r{i} = 1; }}", x(at))
                }
                Stmt::Fence(order) => writeln!(out, "fence({order});"),
                Stmt::Read => writeln!(out, "let r{i} = d;"),
                Stmt::Write(value) => writeln!(out, "d = {value};"),
                Stmt::If(value) => {
                    n_open += 1;
                    writeln!(out, "if ({last} == {value}) {{")
                }
            };
            match stmt {
                Stmt::Load(..) | Stmt::LoadThenFence(_) | Stmt::Swap(..) | Stmt::Cas(..) | Stmt::Read => {
                    last = format!("r{i}");
                }
                Stmt::Store(..) | Stmt::FenceThenStore(..) | Stmt::Fence(_) | Stmt::Write(_) | Stmt::If(_) => {}
            }
        }
        let _ = writeln!(out, "{}}}", "}".repeat(n_open));
    }
    out
}

/// What all executions of RC11 come to: the registers where nothing is left to do, and whether some race.
#[derive(Default)]
struct Truth {
    races: bool,
    ends: BTreeSet<Vec<Value>>,
}

const MAX_GRAPHS: usize = 60_000;

fn truth(program: &Program) -> Option<Truth> {
    const NONE: &Placement = &Placement::NONE;
    let machine = Rc11::default();
    let system = System::new(program, NONE, machine);
    let mut all = Truth::default();
    let mut todo: Vec<_> = starts(program)?.map(|start| system.initial(&start)).collect();
    let mut seen: HashSet<_> = todo.iter().cloned().collect();
    while let Some(state) = todo.pop() {
        all.races |= machine.axioms(&state.memory).race().is_some();
        let steps = system.steps(&state);
        if steps.is_empty() {
            all.ends.insert(seen_of(program, &state.registers.iter().cloned().collect::<Vec<_>>()));
        }
        for (_, outcome) in steps {
            let Outcome::Next(next) = outcome else { continue };
            if seen.insert(next.clone()) {
                todo.push(next);
            }
        }
        if seen.len() > MAX_GRAPHS {
            return None;
        }
    }
    Some(all)
}

/// The registers of the text.
fn shown(program: &Program) -> Vec<StateVar> {
    let of = |(p, process): (_, &fencewright::program::Process)| {
        let all = process.registers.iter_enumerated().filter(|(_, it)| !it.name.starts_with('$'));
        all.map(|(register, _)| StateVar::Register(p, register)).collect::<Vec<_>>()
    };
    program.processes().iter_enumerated().flat_map(of).collect()
}

fn seen_of(program: &Program, registers: &[Vec<Value>]) -> Vec<Value> {
    use fencewright::util::Idx;
    let value = |it: StateVar| match it {
        StateVar::Register(p, register) => registers[p.index()][register.index()],
        StateVar::Memory(_) => 0,
    };
    shown(program).into_iter().map(value).collect()
}

#[derive(Debug, Default)]
struct Tally {
    n: u64,
    n_racy: u64,
    n_mixed: u64,
    n_open: u64,
    n_certified: u64,
}

/// Whether no race was found; nothing if that is not decided.
fn race_free(engine: &dyn Engine, program: &Program, model: Model, options: &Options) -> Result<Option<bool>, String> {
    let asked = ask_race(engine, &Task::new(program, model, options), &Unlimited).map_err(|it| it.reason)?;
    match asked.answer.verdict {
        Verdict::Safe => Ok(Some(true)),
        Verdict::Unsafe(run) if told(&asked.program, &run).is_some() => Ok(Some(false)),
        Verdict::Unsafe(_) => Err("a race of which nothing is told".to_owned()),
        Verdict::Unknown(reason @ StopReason::Defect(_)) => Err(reason.to_string()),
        Verdict::Unknown(_) => Ok(None),
    }
}

fn agrees(sample: &Sample, tally: &mut Tally) -> Result<(), String> {
    let program = program_of(text(sample))?;
    let Some(truth) = truth(&program) else { return Ok(()) };
    let options = Options { threads: 1, ..Options::default() };
    let is_mixed = !mixed(&program).is_empty();
    tally.n += 1;
    tally.n_racy += u64::from(truth.races);
    tally.n_mixed += u64::from(is_mixed);
    for engine in [&Potential as &dyn Engine, &Explicit::DEFAULT] {
        for model in Model::RELEASE_ACQUIRE {
            let is_free = race_free(engine, &program, model, &options)?;
            // Strong release/acquire has fewer runs.
            let is_wrong = match is_free {
                Some(true) => truth.races && model == Model::Ra,
                Some(false) => !truth.races,
                None => engine.name() == "explicit",
            };
            if is_wrong {
                return Err(format!("{} under {model}: race-free {is_free:?}", engine.name()));
            }
        }
    }
    if truth.races {
        return Ok(());
    }
    ends(&program, &truth, is_mixed, tally)
}

/// Whether a program without races ends as RC11 says, and what is proved is.
fn ends(program: &Program, truth: &Truth, is_mixed: bool, tally: &mut Tally) -> Result<(), String> {
    let options = Options { threads: 1, ..Options::default() };
    let shown = shown(program);
    let listed = |engine: &dyn Engine, model| {
        outcomes(engine, &Task::new(program, model, &options), &shown, &Unlimited).map_err(|it: Unsupported| it.reason)
    };
    let mut strong = BTreeSet::new();
    for engine in [&Explicit::DEFAULT as &dyn Engine, &Auto, &Potential] {
        for model in Model::RELEASE_ACQUIRE {
            let found = listed(engine, model)?;
            let is_all = found.stopped.is_none();
            tally.n_open += u64::from(!is_all);
            if !found.values.is_subset(&truth.ends) {
                return Err(format!("{} under {model} ends otherwise: {:?}", engine.name(), found.values));
            }
            if is_all && model == Model::Ra && found.values != truth.ends {
                return Err(format!("{} under {model} misses ends: {:?}", engine.name(), found.values));
            }
            let is_one = is_all && model == Model::Sra;
            if is_one && engine.name() == "explicit" {
                strong.clone_from(&found.values);
            }
            if is_one && !strong.is_empty() && found.values != strong {
                return Err(format!("{} under {model}: {:?}, by states {strong:?}", engine.name(), found.values));
            }
            let may_be_open = engine.name() != "explicit" && (is_mixed || model == Model::Ra);
            if !is_all && !may_be_open {
                return Err(format!("{} under {model} stopped: {:?}", engine.name(), found.stopped));
            }
        }
    }
    Ok(())
}

fn law(name: &str, fewer: u64, holds: impl Fn(&Sample, &mut Tally) -> Result<(), String>) -> Tally {
    let tally = RefCell::new(Tally::default());
    let holds = |sample: &Sample| holds(sample, &mut tally.borrow_mut());
    for i in 0..(n_programs() / fewer).max(1) {
        let mut random = Random(seed().wrapping_mul(3_000_017).wrapping_add(i));
        let mut sample = drawn(&mut random);
        let Err(mut why) = holds(&sample) else { continue };
        while let Some((next, worse)) =
            smaller(&sample).into_iter().find_map(|it| holds(&it).err().map(|why| (it, why)))
        {
            (sample, why) = (next, worse);
        }
        panic!("law `{name}`, seed {}, program {i}: {why}\n\n{}", seed(), text(&sample));
    }
    let tally = tally.into_inner();
    println!("{name}: {tally:?}");
    tally
}

/// The same with a statement less.
fn smaller(sample: &Sample) -> Vec<Sample> {
    let mut out = Vec::new();
    for t in 0..sample.len() {
        for i in 0..sample[t].len() {
            let mut next = sample.clone();
            next[t].remove(i);
            out.push(next);
        }
    }
    out
}

#[test]
fn other_orders_are_what_rc11_says() {
    let tally = law("orders", 4, agrees);
    of_many(tally.n_racy > 0 && tally.n_mixed > 0, "some race, and some have accesses of both kinds");
}

/// What is proved of a program with other orders is true, and the checker takes nothing of a program that races.
#[test]
fn what_is_certified_is_true() {
    let tally = law("certified orders", 8, |sample, tally| {
        let program = program_of(text(sample))?;
        let Some(truth) = truth(&program) else { return Ok(()) };
        let options = Options { threads: 1, ..Options::default() };
        for model in Model::RELEASE_ACQUIRE {
            let task = Task::new(&program, model, &options);
            let (proved, _) = certify_race(&Potential, &task, &Unlimited).map_err(|it| it.reason)?;
            if let Some(certificate) = proved.certificate {
                verify(&program, &certificate, &Unlimited).map_err(|it| format!("{it:?}"))?;
                if truth.races && model == Model::Ra {
                    return Err("a race was proved away".to_owned());
                }
                tally.n_certified += 1;
            }
            let Some(values) = truth.ends.iter().next().filter(|_| !truth.races) else { continue };
            let asked = forbidding(&program, sample, values)?;
            let proved = certify(&Potential, &Task::new(&asked, model, &options), &Unlimited);
            let proved = proved.map_err(|it| it.reason)?;
            if let Some(certificate) = proved.certificate {
                verify(&asked, &certificate, &Unlimited).map_err(|it| format!("{it:?}"))?;
                if model == Model::Ra && matches!(certificate.claim, Claim::Safe(..)) {
                    return Err(format!("an end was proved away: {values:?}"));
                }
                tally.n_certified += 1;
            }
        }
        Ok(())
    });
    of_many(tally.n_certified > 0, "something is proved");
}

/// The program with an end that must not be.
fn forbidding(program: &Program, sample: &Sample, values: &[Value]) -> Result<Program, String> {
    let name = |it: &StateVar| match *it {
        StateVar::Register(p, register) => {
            let process = &program.processes()[p];
            format!("{}.{}", process.name, process.registers[register].name)
        }
        StateVar::Memory(_) => String::new(),
    };
    let shown = shown(program);
    let equal = shown.iter().zip(values).map(|(it, value)| format!("{} == {value}", name(it)));
    let equal: Vec<String> = equal.collect();
    let condition = if equal.is_empty() { "x >= 0".to_owned() } else { equal.join(" && ") };
    program_of(format!("{}forbid {condition} at end;\n", text(sample)))
}
