//! Release/acquire against execution graphs, on random programs without loops: machines, and the engine for them, at
//! every place where threads can be at once.
//!
//! `FENCEWRIGHT_LAWS=20000 cargo test -p fencewright --test it sra_laws::` tries more.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use fencewright::engine::backward::potential::{Potential, Weakly};
use fencewright::engine::explicit::Explicit;
use fencewright::engine::hang::Hang;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Engine, Options, StopReason, Task, Verdict, ask};
use fencewright::memory::{Dialect, Model};
use fencewright::program::{BinaryOp, ProcessId};
use fencewright::program::{
    Expr, LocationId, PointId, Program, Property, PropertyKind, PropertyWords, Situation, StateVar, Value,
};
use fencewright::source::Span;
use fencewright::synth::{By, Method, Place, candidates};
use fencewright::system::Control;
use fencewright::util::Idx;
use fencewright::watch::{Budget, Monitor, Unlimited};

use crate::common::causal::{Causal, Event, Reached, reached};
use crate::common::law::{check_racing, check_weak, n_programs, of_many, program, program_of, seed};
use crate::common::oracle::configurations;
use crate::common::random::{Random, Shape};
use crate::synth_laws::{Tally as Fixed, equals_brute_force};

/// A place for each thread, by the number of its label.
type Vector = Vec<usize>;

/// What graphs say of all places at once.
fn truth(causal: &Causal) -> BTreeMap<Vector, Reached> {
    let places = causal.places();
    let mut out = BTreeMap::new();
    let mut at = vec![0; places.len()];
    loop {
        let threads: Vec<&[Event]> = at.iter().zip(&places).map(|(&it, places)| &places[it][..]).collect();
        out.insert(at.clone(), reached(&threads, causal.n_locations));
        let Some(turning) = (0..at.len()).rev().find(|&t| at[t] + 1 < places[t].len()) else { return out };
        at[turning] += 1;
        at[turning + 1..].fill(0);
    }
}

/// The points of the labels of each thread.
fn points(program: &Program) -> Vec<BTreeMap<PointId, usize>> {
    let mut out = vec![BTreeMap::new(); program.processes().len()];
    for (id, point) in program.points().iter_enumerated() {
        for label in &point.labels {
            let number = label[1..].parse().expect("labels are numbered");
            out[point.process.index()].insert(id, number);
        }
    }
    out
}

/// The places that a machine leads to, each with what memory may hold there.
fn walked(program: &Program, model: Model) -> Option<BTreeMap<Vector, BTreeSet<Vec<usize>>>> {
    let points = points(program);
    let mut out: BTreeMap<Vector, BTreeSet<Vec<usize>>> = BTreeMap::new();
    for (controls, _, memory) in configurations(program, model, Dialect::default(), 400_000)? {
        let place = |(t, control): (usize, &Control)| points[t].get(&control.point()?).copied();
        if let Some(vector) = controls.iter().enumerate().map(place).collect::<Option<Vector>>() {
            out.entry(vector).or_default().insert(memory.iter().map(|&value| value as usize).collect());
        }
    }
    Some(out)
}

fn asked(program: &Program, vector: &[usize], memory: &[(usize, usize)]) -> Program {
    let points = points(program);
    let at = vector.iter().enumerate().map(|(t, place)| {
        let (point, _) = points[t].iter().find(|it| it.1 == place).expect("each place has a label");
        (ProcessId::from_usize(t), vec![*point])
    });
    let is = |&(x, value): &(usize, usize)| {
        let memory = Expr::Var(StateVar::Memory(LocationId::from_usize(x)));
        Expr::Binary(BinaryOp::Eq, Box::new(memory), Box::new(Expr::Const(value as Value)))
    };
    let and = |all: Expr<StateVar>, one| Expr::Binary(BinaryOp::And, Box::new(all), Box::new(one));
    let condition = memory.iter().map(is).reduce(and).unwrap_or(Expr::TRUE);
    let kind = if memory.is_empty() { PropertyKind::Control } else { PropertyKind::Invariant };
    let situation = Situation { at: at.collect(), condition };
    let (text, words, span) = (String::new(), PropertyWords::default(), Span::default());
    program.with_properties([Property { kind, situations: vec![situation], text, words, span }])
}

/// Whether an engine finds a way there.
fn is_found(engine: &dyn Engine, program: &Program, model: Model, options: &Options) -> Result<bool, String> {
    let answer = engine.check(&Task::new(program, model, options), &Unlimited).map_err(|it| it.reason)?;
    match answer.verdict {
        Verdict::Safe => Ok(false),
        Verdict::Unsafe(_) => Ok(true),
        Verdict::Unknown(reason @ StopReason::Defect(_)) => Err(reason.to_string()),
        Verdict::Unknown(reason) => Err(format!("undecided: {reason}")),
    }
}

/// What was seen over all programs.
#[derive(Debug, Default)]
struct Tally {
    n_checks: u64,
    n_weak: u64,
    n_ra: u64,
    n_wra: u64,
}

fn each_program(name: &str, fewer: u64, law: impl Fn(&Causal, &mut Random, &mut Tally) -> Result<(), String>) {
    let mut tally = Tally::default();
    for i in 0..(n_programs() / fewer).max(1) {
        let mut random = Random(seed().wrapping_mul(7_000_003).wrapping_add(i));
        let causal = Causal::draw(&mut random);
        if let Err(why) = law(&causal, &mut random.clone(), &mut tally) {
            panic!("law `{name}` fails, seed {}, program {i}: {why}\n\n{}", seed(), causal.text());
        }
    }
    println!("{name}: {tally:?}");
    of_many(tally.n_weak > 0, "some programs are weak");
}

#[test]
fn machines_lead_where_graphs_do() {
    each_program("machines", 4, |causal, _, tally| {
        let program = program_of(causal.text())?;
        let truth = truth(causal);
        let models = [Model::Sc, Model::Tso, Model::Sra, Model::Ra];
        let [sc, tso, sra, ra] = models.map(|model| walked(&program, model).expect("few states"));
        for (vector, reached) in &truth {
            let is = |found: &BTreeMap<Vector, _>| found.contains_key(vector);
            let found = (is(&sc), is(&sra), is(&ra));
            if found != (reached.sc, reached.sra, reached.ra) || (is(&tso) && !reached.sra) {
                return Err(format!("{vector:?}: {found:?}, in truth {reached:?}"));
            }
            let is_within =
                (!reached.sc || reached.sra) && (!reached.sra || reached.ra) && (!reached.ra || reached.wra);
            let memory = |found: &BTreeMap<Vector, BTreeSet<_>>| found.get(vector).cloned().unwrap_or_default();
            if !is_within || memory(&sra) != reached.sra_memory || memory(&ra) != reached.ra_memory {
                return Err(format!("{vector:?}: memory {:?}, in truth {reached:?}", memory(&sra)));
            }
            tally.n_checks += 1;
            tally.n_weak += u64::from(reached.sra && !reached.sc);
            tally.n_ra += u64::from(reached.ra && !reached.sra);
            tally.n_wra += u64::from(reached.wra && !reached.ra);
        }
        let races = truth.values().any(|it| it.races);
        let is_one = |it: &Reached| it.sra == it.ra && it.ra == it.wra;
        match races || truth.values().all(is_one) {
            true => Ok(()),
            false => Err("no two stores race, and the models differ".to_owned()),
        }
    });
}

/// All reductions, none, or all but one.
fn options(random: &mut Random) -> Options {
    let all = Potential.card().reductions;
    let mut options = Options::default();
    match random.below(3) {
        0 => {}
        1 => options.without.extend(all.iter().copied()),
        _ => {
            options.without.insert(all[random.below(all.len())]);
        }
    }
    options
}

#[test]
fn potentials_lead_where_graphs_do() {
    each_program("potentials", 16, |causal, random, tally| {
        let program = program_of(causal.text())?;
        for (vector, reached) in &truth(causal) {
            let options = options(random);
            let asked_there = asked(&program, vector, &[]);
            let found = is_found(&Potential, &asked_there, Model::Sra, &options)?;
            tally.n_checks += 1;
            tally.n_weak += u64::from(reached.sra && !reached.sc);
            if found != reached.sra {
                let without: Vec<_> = options.without.iter().map(|it| it.name).collect();
                return Err(format!("{vector:?}: {found}, in truth {reached:?}, without {without:?}"));
            }
            if random.chance(20) {
                let memory: Vec<(usize, usize)> =
                    (0..causal.n_locations).map(|x| (x, random.below(causal.n_values))).collect();
                let found = is_found(&Potential, &asked(&program, vector, &memory), Model::Sra, &options)?;
                let wanted = memory.iter().map(|it| it.1).collect::<Vec<_>>();
                if found != reached.sra_memory.contains(&wanted) {
                    return Err(format!("{vector:?} with {wanted:?}: {found}, in truth {reached:?}"));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn what_is_weaker_and_what_is_between_lead_where_graphs_do() {
    each_program("weak", 16, |causal, random, tally| {
        let program = program_of(causal.text())?;
        for (vector, reached) in &truth(causal) {
            let options = options(random);
            let asked = asked(&program, vector, &[]);
            let verdict = |engine: &dyn Engine| match engine.check(&Task::new(&asked, Model::Ra, &options), &Unlimited)
            {
                Ok(answer) => Ok(answer.verdict),
                Err(unsupported) => Err(unsupported.reason),
            };
            let is_safe = matches!(verdict(&Weakly)?, Verdict::Safe);
            tally.n_checks += 1;
            tally.n_weak += u64::from(reached.sra && !reached.sc);
            tally.n_ra += u64::from(reached.ra && !reached.sra);
            tally.n_wra += u64::from(reached.wra && !reached.ra);
            let without: Vec<_> = options.without.iter().map(|it| it.name).collect();
            if is_safe == reached.wra {
                return Err(format!("{vector:?}: safe {is_safe} under WRA, in truth {reached:?}, without {without:?}"));
            }
            let is_right = match verdict(&Potential)? {
                Verdict::Safe => !reached.ra,
                Verdict::Unsafe(_) => reached.ra,
                Verdict::Unknown(StopReason::Unconfirmed(_)) => reached.wra && !reached.sra,
                Verdict::Unknown(_) => false,
            };
            if random.chance(5) {
                let language = Task::new(&asked, Model::LANGUAGES[0], &options);
                let promised = Auto.check(&language, &Unlimited).map_err(|it| it.reason)?.verdict;
                let is_other = match promised {
                    Verdict::Safe => reached.ra,
                    Verdict::Unsafe(_) => !reached.ra,
                    Verdict::Unknown(ref reason) => matches!(reason, StopReason::Defect(_)),
                };
                if is_other {
                    return Err(format!("{vector:?}: {promised:?} under RC11, in truth {reached:?}"));
                }
            }
            if !is_right {
                return Err(format!("{vector:?}: {:?} under RA, in truth {reached:?}", verdict(&Potential)?));
            }
        }
        Ok(())
    });
}

/// What the engine says of a program with loops is what a search of some states says, where that knows.
#[test]
fn potentials_agree_with_states_on_loops() {
    const SHORT: Explicit = Explicit { max_states: 3_000, ..Explicit::DEFAULT };
    let tally = Cell::new((0, 0));
    check_racing("potentials on loops", Shape { max_ops: 3, has_loops: true }, 8, |sample| {
        let program = program(sample)?;
        let options = Options::default();
        let task = Task::new(&program, Model::Sra, &options);
        if Potential.takes(&task).is_err() {
            return Ok(());
        }
        let said = |engine: &dyn Engine, monitor: &dyn Monitor| match engine.check(&task, monitor) {
            Ok(answer) => Ok(answer.verdict),
            Err(unsupported) => Err(unsupported.reason),
        };
        let states = said(&SHORT, &Unlimited)?;
        let potentials = said(&Potential, &Budget { monitor: &Unlimited, max: 3_000 })?;
        let (n, n_decided) = tally.get();
        tally.set((n + 1, n_decided + u32::from(!matches!(states, Verdict::Unknown(_)))));
        match (&states, &potentials) {
            (Verdict::Safe, Verdict::Safe) | (Verdict::Unsafe(_), Verdict::Unsafe(_)) => Ok(()),
            (_, Verdict::Unknown(reason @ StopReason::Defect(_))) => Err(reason.to_string()),
            (Verdict::Unknown(_), _) | (_, Verdict::Unknown(_)) => Ok(()),
            _ => Err(format!("{potentials:?}, by states {states:?}")),
        }
    });
    println!("loops: {:?} compared and decided by states", tally.get());
}

#[test]
fn the_minimal_fence_sets_equal_brute_force() {
    let tally = Fixed::default();
    check_weak("fences", Shape { max_ops: 3, has_loops: false }, Model::Tso, 8, |sample| {
        let program = program(sample)?;
        let options = Options::default();
        if Potential.takes(&Task::new(&program, Model::Sra, &options)).is_err() {
            return Ok(());
        }
        let candidates = candidates(&program, &Place::AfterStores, By::Process).expect("no labels are asked for");
        tally.count(equals_brute_force(&program, &[Model::Sra], &candidates, &[Method::Loop])?);
        Ok(())
    });
    tally.show("fences");
}

/// Hangs under release/acquire: who waits sees the last message some day.
#[test]
fn hangs_are_those_of_last_messages() {
    let wake = "shared idle, work, wake: 0..1 = 0;
        thread S { idle = 1; FENCE if (work == 0) { while (wake == 0) {} } }
        thread T { work = 1; FENCE if (idle == 1) { wake = 1; } }";
    for (text, hangs) in [
        (wake.replace("FENCE", ""), true),
        (wake.replace("FENCE", "fence;"), false),
        ("shared x: 0..1 = 0; thread P { x = 1; } thread Q { while (x == 0) {} }".to_owned(), false),
        ("shared l: 0..1 = 1; thread P { while (swap(l, 1) == 1) {} }".to_owned(), true),
    ] {
        let program = program_of(text.clone()).expect("it is right");
        let options = Options::default();
        for engine in [&Potential as &dyn Engine, &Explicit::DEFAULT] {
            let task = Task::new(&program, Model::Sra, &options);
            let asked = ask(engine, &Hang::default(), &task, &Unlimited).expect("it is taken");
            assert_eq!(matches!(asked.answer.verdict, Verdict::Unsafe(_)), hangs, "{}: {text}", engine.name());
        }
    }
}
