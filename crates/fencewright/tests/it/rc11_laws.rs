//! The engine `views` against execution graphs, on random programs without loops.
//!
//! The oracle walks every execution that the axioms allow, one event after the other (`memory::Rc11`), and looks at
//! each: is it one of sequential consistency, does it race, where are the threads? It knows nothing of views.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

use fencewright::certificate::{Shows, explore_views};
use fencewright::engine::data_race::ask_race;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::robust::RobustTrace;
use fencewright::engine::views::Views;
use fencewright::engine::{Answer, Engine, Options, StopReason, Task, Verdict, ask};
use fencewright::memory::{Model, Rc11, ReleaseSequence};
use fencewright::program::{Order, Placement, Program, Value};
use fencewright::synth::Profile;
use fencewright::synth::orders::{Element, Offered, order_of, orders, own_elements};
use fencewright::system::{Outcome, System, starts};
use fencewright::watch::Unlimited;

use crate::common::law::{n_programs, of_many, program_of, seed};
use crate::common::random::Random;

const LOADS: [&str; 4] = ["relaxed", "relaxed", "acquire", "acquire"];
const STORES: [&str; 4] = ["relaxed", "relaxed", "release", "release"];
const UPDATES: [&str; 4] = ["relaxed", "acquire", "release", "acq_rel"];
const FENCES: [&str; 6] = ["acquire", "release", "acq_rel", "seq_cst", "seq_cst", "seq_cst"];
const ATOMIC: [&str; 3] = ["x", "y", "z"];

/// What a random program may do.
#[derive(Clone, Copy)]
struct Kind {
    has_sc: bool,
    has_plain: bool,
    has_loops: bool,
}

#[derive(Clone, Debug)]
enum Stmt {
    Load(usize, &'static str),
    Store(usize, usize, &'static str),
    Swap(usize, usize, &'static str),
    Cas(usize, usize, usize, &'static str),
    Fence(&'static str),
    Read,
    Write(usize),
    /// Loads until it finds something else.
    Spin(usize, usize, &'static str),
    /// All that follows, if what was read last is this.
    If(usize),
}

type Sample = Vec<Vec<Stmt>>;

fn drawn(random: &mut Random, kind: Kind) -> Sample {
    let n_threads = [2, 2, 2, 3, 3, 4][random.below(6)];
    let n_locations = 2 + usize::from(random.chance(30));
    let n_events = match n_threads {
        2 => 4,
        3 => 3,
        _ => 2,
    };
    let of = |all: &[&'static str], random: &mut Random| match kind.has_sc && random.chance(40) {
        true => "seq_cst",
        false => all[random.below(all.len())],
    };
    (0..n_threads)
        .map(|_| {
            let mut body = Vec::new();
            let mut has_read = false;
            let n_events = 1 + random.below(n_events);
            for _ in 0..n_events {
                if has_read && random.chance(35) {
                    body.push(Stmt::If(random.below(2)));
                }
                let x = random.below(n_locations);
                let value = 1 + random.below(2);
                if kind.has_loops && random.chance(25) {
                    body.push(Stmt::Spin(x, random.below(2), of(&LOADS, random)));
                    continue;
                }
                body.push(match random.below(20) {
                    0..6 => Stmt::Load(x, of(&LOADS, random)),
                    6..12 => Stmt::Store(x, value, of(&STORES, random)),
                    12 => Stmt::Swap(x, value, of(&UPDATES, random)),
                    13..15 => Stmt::Cas(x, random.below(2), value, of(&UPDATES, random)),
                    15..18 if !kind.has_plain => Stmt::Fence(FENCES[random.below(6)]),
                    15 => Stmt::Fence(FENCES[random.below(6)]),
                    16 if kind.has_plain => Stmt::Read,
                    _ if kind.has_plain => Stmt::Write(value),
                    _ => Stmt::Load(x, of(&LOADS, random)),
                });
                has_read |= matches!(body.last(), Some(Stmt::Load(..) | Stmt::Swap(..) | Stmt::Cas(..)));
            }
            body
        })
        .collect()
}

fn text(sample: &Sample) -> String {
    text_of(sample, false)
}

/// The same; loops may be unrolled twice.
fn text_of(sample: &Sample, is_unrolled: bool) -> String {
    let mut out = String::from("shared x, y, z: 0..2 = 0;\nshared plain d: 0..2 = 0;\n");
    for (t, body) in sample.iter().enumerate() {
        let _ = writeln!(out, "thread T{t} {{");
        let (mut n_open, mut last) = (0, String::new());
        for (i, stmt) in body.iter().enumerate() {
            let x = |x: &usize| ATOMIC[*x];
            let _ = match stmt {
                Stmt::Load(at, order) => writeln!(out, "let r{i} = load({}, {order});", x(at)),
                Stmt::Store(at, value, order) => writeln!(out, "store({}, {value}, {order});", x(at)),
                Stmt::Swap(at, value, order) => writeln!(out, "let r{i} = swap({}, {value}, {order});", x(at)),
                Stmt::Cas(at, old, new, order) => writeln!(out, "let r{i} = cas({}, {old}, {new}, {order});", x(at)),
                Stmt::Fence(order) => writeln!(out, "fence({order});"),
                Stmt::Read => writeln!(out, "let r{i} = d;"),
                Stmt::Write(value) => writeln!(out, "d = {value};"),
                Stmt::Spin(at, value, order) if is_unrolled => {
                    let load = format!("load({}, {order});", x(at));
                    let again = format!("let b{i} = {load} assume(b{i} != {value});");
                    writeln!(out, "let a{i} = {load}\nif (a{i} == {value}) {{ {again} }}")
                }
                Stmt::Spin(at, value, order) => writeln!(out, "while (load({}, {order}) == {value}) {{}}", x(at)),
                Stmt::If(value) => {
                    n_open += 1;
                    writeln!(out, "if ({}) {{", is(&last, *value))
                }
            };
            match stmt {
                Stmt::Load(..) | Stmt::Swap(..) => last = format!("r{i}"),
                Stmt::Cas(..) => last = format!("!r{i}"),
                Stmt::Store(..) | Stmt::Fence(_) | Stmt::Read | Stmt::Write(_) | Stmt::If(_) | Stmt::Spin(..) => {}
            }
        }
        let _ = writeln!(out, "{}}}", "}".repeat(n_open));
    }
    out
}

/// A condition on what was read last: a number, or whether a `cas` went wrong.
fn is(last: &str, value: usize) -> String {
    match (last.strip_prefix('!'), value) {
        (Some(done), 0) => format!("!{done}"),
        (Some(done), _) => done.to_owned(),
        (None, value) => format!("{last} == {value}"),
    }
}

/// The registers of all threads.
type End = Vec<Vec<Value>>;

/// What there is to say of all executions of a program.
#[derive(Default)]
struct Truth {
    is_robust: bool,
    races: bool,
    /// Where all threads may end up, with their registers: those that have no way on.
    ends: BTreeSet<End>,
}

const MAX_GRAPHS: usize = 60_000;

fn truth(program: &Program, machine: Rc11) -> Option<Truth> {
    const NONE: &Placement = &Placement::NONE;
    let system = System::new(program, NONE, machine);
    let mut all = Truth { is_robust: true, ..Truth::default() };
    let mut todo: Vec<_> = starts(program)?.map(|start| system.initial(&start)).collect();
    let mut seen: HashSet<_> = todo.iter().cloned().collect();
    while let Some(state) = todo.pop() {
        let axioms = machine.axioms(&state.memory);
        all.is_robust &= axioms.is_sc();
        all.races |= axioms.race().is_some();
        let steps = system.steps(&state);
        if steps.is_empty() {
            all.ends.insert(state.registers.iter().cloned().collect());
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

/// What the engine said, over all programs.
#[derive(Debug, Default)]
struct Tally {
    n: u64,
    n_weak: u64,
    n_racy: u64,
    n_races_open: u64,
    n_undecided: u64,
    n_safe_weak: u64,
    n_unsafe: u64,
    n_unknown: u64,
    /// What the checker of certificates accepts, of what is safe and weak.
    n_certified: u64,
}

fn verdict(answer: Result<Answer, fencewright::engine::Unsupported>) -> Result<Option<bool>, String> {
    match answer.map_err(|it| it.reason)?.verdict {
        Verdict::Safe => Ok(Some(true)),
        Verdict::Unsafe(_) => Ok(Some(false)),
        Verdict::Unknown(reason @ StopReason::Defect(_)) => Err(reason.to_string()),
        Verdict::Unknown(_) => Ok(None),
    }
}

fn agrees(sample: &Sample, kind: Kind, sequence: ReleaseSequence, tally: &mut Tally) -> Result<(), String> {
    let program = program_of(text(sample))?;
    let model = Model::Rc11(sequence);
    let Some(truth) = truth(&program, Rc11 { sequence }) else { return Ok(()) };
    let options = Options { threads: 1, ..Options::default() };
    let task = Task::new(&program, model, &options);
    tally.n += 1;
    tally.n_weak += u64::from(!truth.is_robust);
    tally.n_racy += u64::from(truth.races);

    let races = verdict(ask_race(&Views, &task, &Unlimited).map(|it| it.answer))?.map(|it| !it);
    tally.n_races_open += u64::from(races.is_none());
    if races.is_some_and(|races| races != truth.races) {
        return Err(format!("races: {races:?}, in truth {}", truth.races));
    }
    let robust = verdict(ask(&Views, &RobustTrace, &task, &Unlimited).map(|it| it.answer))?;
    let is_decided = !truth.races && !kind.has_sc;
    if robust.is_some_and(|robust| robust != truth.is_robust && !truth.races) || (is_decided && robust.is_none()) {
        return Err(format!("robust: {robust:?}, in truth {}", truth.is_robust));
    }
    tally.n_undecided += u64::from(robust.is_none() && !truth.races);
    is_certified(&program, kind, sequence, &truth)?;
    if truth.races {
        return Ok(());
    }
    reaches(sample, &program, model, &truth, tally)
}

/// Whether the checker of certificates sees of a program what is true.
fn is_certified(program: &Program, kind: Kind, sequence: ReleaseSequence, truth: &Truth) -> Result<(), String> {
    let accepts = |shows| explore_views((program, &Placement::NONE), Rc11 { sequence }, shows, &Unlimited).is_ok();
    let is_robust = truth.is_robust && !truth.races;
    match (accepts(Shows::Robust), accepts(Shows::RaceFree)) {
        (true, _) if !is_robust => Err("the checker says that it is robust".to_owned()),
        (false, _) if is_robust && !kind.has_sc => Err("the checker does not see that it is robust".to_owned()),
        (_, true) if truth.races => Err("the checker sees no race".to_owned()),
        (true, false) => Err("the checker sees a race where it says that all is as under SC".to_owned()),
        _ => Ok(()),
    }
}

/// Whether the engine says of each end, and of one that there is not, what is true.
fn reaches(sample: &Sample, program: &Program, model: Model, truth: &Truth, tally: &mut Tally) -> Result<(), String> {
    let options = Options { threads: 1, ..Options::default() };
    for end in wanted(truth) {
        let conditions = conditions(sample, program, &end).join(" && ");
        if conditions.is_empty() {
            continue;
        }
        let is_reached = truth.ends.iter().any(|other| is_same(program, other, &end));
        let asked = program_of(format!("{}forbid {conditions} at end;\n", text(sample)))?;
        let language = model.language().expect("it is one");
        let is_certified = explore_views((&asked, &Placement::NONE), language, Shows::Safe, &Unlimited).is_ok();
        if is_certified && is_reached {
            return Err(format!("the checker says that {conditions} is not reached"));
        }
        tally.n_certified += u64::from(is_certified && !truth.is_robust);
        match verdict(Views.check(&Task::new(&asked, model, &options), &Unlimited))? {
            Some(true) if !is_certified => return Err(format!("the checker does not see that {conditions} is safe")),
            Some(is_safe) if is_safe == is_reached => {
                return Err(format!("safe: {is_safe}, but reached: {is_reached}: {conditions}"));
            }
            Some(true) => tally.n_safe_weak += u64::from(!truth.is_robust),
            Some(false) => tally.n_unsafe += 1,
            None => tally.n_unknown += 1,
        }
    }
    Ok(())
}

/// Some ends that there are, and the same with another register each, which may be ends or not.
fn wanted(truth: &Truth) -> Vec<End> {
    let mut wanted: Vec<End> = truth.ends.iter().take(3).cloned().collect();
    for end in truth.ends.iter().take(3) {
        let mut other = end.clone();
        if let Some(register) = other.iter_mut().flatten().next() {
            *register = (*register + 1) % 2;
        }
        wanted.push(other);
    }
    wanted
}

/// The registers of the text, of each thread.
fn registers(program: &Program, t: usize) -> Vec<(usize, String)> {
    let all = program.processes().as_slice()[t].registers.iter().map(|it| it.name.clone());
    all.enumerate().filter(|(_, name)| !name.starts_with('$')).collect()
}

fn is_same(program: &Program, one: &End, other: &End) -> bool {
    (0..one.len()).all(|t| registers(program, t).into_iter().all(|(i, _)| one[t][i] == other[t][i]))
}

/// What says that threads ended so; a `cas` leaves a truth value.
fn conditions(sample: &Sample, program: &Program, end: &End) -> Vec<String> {
    let mut all = Vec::new();
    for (t, values) in end.iter().enumerate() {
        for (i, name) in registers(program, t) {
            let stmt = name[1..].parse().ok().and_then(|i: usize| sample[t].get(i));
            all.push(match (matches!(stmt, Some(Stmt::Cas(..))), values[i]) {
                (true, 0) => format!("!T{t}.{name}"),
                (true, _) => format!("T{t}.{name}"),
                (false, value) => format!("T{t}.{name} == {value}"),
            });
        }
    }
    all
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
        if sample.len() > 2 {
            let mut next = sample.clone();
            next.remove(t);
            out.push(next);
        }
    }
    out
}

fn law(name: &str, kind: Kind, sequence: ReleaseSequence, fewer: u64) -> Tally {
    let tally = RefCell::new(Tally::default());
    let holds = |sample: &Sample| agrees(sample, kind, sequence, &mut tally.borrow_mut());
    for i in 0..n_programs() / fewer {
        let mut random = Random(seed().wrapping_mul(1_000_003).wrapping_add(i));
        let mut sample = drawn(&mut random, kind);
        let Err(mut why) = holds(&sample) else { continue };
        while let Some((next, worse)) =
            smaller(&sample).into_iter().find_map(|it| holds(&it).err().map(|why| (it, why)))
        {
            (sample, why) = (next, worse);
        }
        panic!("law `{name}`, program {i}: {why}\n\n{}", text(&sample));
    }
    let tally = tally.into_inner();
    println!("{name}: {tally:?}");
    tally
}

const ORDERS: Kind = Kind { has_sc: false, has_plain: false, has_loops: false };

/// More subsets than this are not tried.
const MAX_ELEMENTS: usize = 6;

/// All minimal choices of the orders that a program has, by trying every choice.
fn minimal_choices(
    program: &Program,
    elements: &[Element],
    is_bad: &dyn Fn(&Truth) -> bool,
) -> Option<Vec<Vec<usize>>> {
    let mut minimal: Vec<Vec<usize>> = Vec::new();
    let mut subsets: Vec<Vec<usize>> = (0..1_usize << elements.len())
        .map(|bits| (0..elements.len()).filter(|i| bits & (1 << i) != 0).collect())
        .collect();
    subsets.sort_by_key(Vec::len);
    for subset in subsets {
        if minimal.iter().any(|less| less.iter().all(|it| subset.contains(it))) {
            continue;
        }
        let edges = elements.iter().flat_map(|it| it.edges.iter().copied());
        let orders = edges.map(|edge| (edge, order_of(elements, &subset, edge).unwrap_or(Order::Relaxed))).collect();
        if !is_bad(&truth(&program.with_orders(&orders), Rc11::default())?) {
            minimal.push(subset);
        }
    }
    minimal.sort();
    Some(minimal)
}

/// Whether all minimal choices are found; `None` where there is nothing to choose.
fn finds_all(sample: &Sample) -> Result<Option<usize>, String> {
    let program = program_of(text(sample))?;
    let elements = own_elements(&program);
    if elements.is_empty() || elements.len() > MAX_ELEMENTS {
        return Ok(None);
    }
    let edges = elements.iter().flat_map(|it| it.edges.iter().copied());
    let relaxed = edges.map(|edge| (edge, Order::Relaxed)).collect();
    let machine = Rc11::default();
    let Some(most) = truth(&program.with_orders(&relaxed), machine) else { return Ok(None) };
    let Some(own) = truth(&program, machine) else { return Ok(None) };
    let new = most.ends.iter().find(|end| !own.ends.iter().any(|it| is_same(&program, it, end)));
    let forbidden = new.map(|end| (end.clone(), conditions(sample, &program, end).join(" && ")));
    let Some((end, words)) = forbidden.filter(|it| !it.1.is_empty() && !own.races) else { return Ok(None) };
    let asked = program_of(format!("{}forbid {words} at end;\n", text(sample)))?;
    let is_bad = |it: &Truth| it.races || it.ends.iter().any(|other| is_same(&program, other, &end));
    let Some(wanted) = minimal_choices(&program, &elements, &is_bad) else { return Ok(None) };
    let options = Options { threads: 1, ..Options::default() };
    let task = Task::new(&asked, Model::Rc11(ReleaseSequence::Updates), &options);
    let found = orders(&Auto, &task, (Offered::Own, Profile::X86), &Unlimited).map_err(|it| it.reason)?;
    let mut sets: Vec<Vec<usize>> = found.sets.iter().map(|it| it.elements.clone()).collect();
    sets.sort();
    let is_whole = found.stopped.is_none();
    match sets == wanted || (!is_whole && sets.iter().all(|it| wanted.contains(it))) {
        true => Ok(Some(sets.len())),
        false => Err(format!("orders: {sets:?}, by trying all {wanted:?}; forbid {words}")),
    }
}

/// Whether what is said of a program with loops is true of what they do in two rounds.
fn is_not_contradicted(sample: &Sample) -> Result<bool, String> {
    let looping = program_of(text(sample))?;
    let Some(truth) = truth(&program_of(text_of(sample, true))?, Rc11::default()) else { return Ok(false) };
    let options = Options { threads: 1, ..Options::default() };
    let task = Task::new(&looping, Model::Rc11(ReleaseSequence::Updates), &options);
    let races = verdict(ask_race(&Views, &task, &Unlimited).map(|it| it.answer))?.map(|it| !it);
    let robust = verdict(ask(&Views, &RobustTrace, &task, &Unlimited).map(|it| it.answer))?;
    match (truth.races, races, truth.is_robust, robust) {
        (true, Some(false), _, _) => Err("a race is missed".to_owned()),
        (false, _, false, Some(true)) => Err("a weak execution is missed".to_owned()),
        _ => Ok(robust == Some(true)),
    }
}

#[test]
fn loops_are_not_contradicted_by_two_rounds() {
    let mut n_robust = 0;
    for i in 0..n_programs() / 3 {
        let kind = Kind { has_plain: i % 2 == 0, has_loops: true, ..ORDERS };
        let sample = drawn(&mut Random(seed().wrapping_mul(9_000_011).wrapping_add(i)), kind);
        match is_not_contradicted(&sample) {
            Ok(is_robust) => n_robust += u64::from(is_robust),
            Err(why) => panic!("program {i}: {why}\n\n{}", text(&sample)),
        }
    }
    println!("loops: {n_robust} robust programs");
}

/// The same with most orders as strong as they can be, so that there is something to weaken.
fn strengthened(sample: Sample, random: &mut Random) -> Sample {
    let mut stronger = |order: &'static str, strong: &'static str| if random.chance(80) { strong } else { order };
    let mut statement = |stmt: Stmt| match stmt {
        Stmt::Load(x, order) => Stmt::Load(x, stronger(order, "acquire")),
        Stmt::Store(x, value, order) => Stmt::Store(x, value, stronger(order, "release")),
        Stmt::Swap(x, value, order) => Stmt::Swap(x, value, stronger(order, "acq_rel")),
        Stmt::Cas(x, old, new, order) => Stmt::Cas(x, old, new, stronger(order, "acq_rel")),
        Stmt::Fence(order) => Stmt::Fence(stronger(order, "seq_cst")),
        Stmt::Spin(x, value, order) => Stmt::Spin(x, value, stronger(order, "acquire")),
        Stmt::Read | Stmt::Write(_) | Stmt::If(_) => stmt,
    };
    sample.into_iter().map(|body| body.into_iter().map(&mut statement).collect()).collect()
}

#[test]
fn all_minimal_orders_are_found() {
    let mut n_tried = 0;
    for i in 0..n_programs() / 3 {
        let mut random = Random(seed().wrapping_mul(7_000_003).wrapping_add(i));
        let sample = strengthened(drawn(&mut random, ORDERS), &mut random);
        match finds_all(&sample) {
            Ok(found) => n_tried += u64::from(found.is_some()),
            Err(why) => panic!("program {i}: {why}\n\n{}", text(&sample)),
        }
    }
    println!("all minimal orders: {n_tried} programs");
    of_many(n_tried * 1_000 > n_programs() / 3, "too few programs need orders");
}

#[test]
fn robust_agrees_with_execution_graphs() {
    let tally = law("orders", ORDERS, ReleaseSequence::Updates, 2);
    of_many(tally.n_weak * 25 > tally.n, "too few programs are weak");
}

#[test]
fn robust_agrees_with_execution_graphs_of_c11_release_sequences() {
    law("release sequences", ORDERS, ReleaseSequence::OwnStores, 4);
}

#[test]
fn races_agree_with_execution_graphs() {
    let tally = law("plain data", Kind { has_plain: true, ..ORDERS }, ReleaseSequence::Updates, 2);
    of_many(tally.n_racy * 20 > tally.n, "too few programs race");
}

#[test]
fn no_side_of_seq_cst_is_wrong() {
    let tally = law("seq_cst", Kind { has_sc: true, ..ORDERS }, ReleaseSequence::Updates, 2);
    of_many(tally.n_undecided * 100 < tally.n, "too much is undecided");
}
