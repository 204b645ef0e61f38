//! The programs about release/acquire, and litmus tests: what their headers say, and how many constraints that takes.

use std::fmt::Write as _;
use std::path::Path;

use fencewright::engine::backward::potential::Potential;
use fencewright::engine::explicit::Explicit;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Engine, Options, Task, Verdict, named, outcomes};
use fencewright::expectation::{Expectations, Held, hold, hold_race};
use fencewright::memory::Model;
use fencewright::program::{Program, StateVar};
use fencewright::prove::certify_fences;
use fencewright::synth::{By, Outcome, Place, Request, candidates, synthesize};
use fencewright::watch::Unlimited;

use crate::common::expectation::root;

fn programs(folder: &str) -> Vec<(String, Program, Expectations)> {
    let entries = std::fs::read_dir(root().join(folder)).expect("the examples can be listed");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("the examples can be listed").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "fw"));
    paths.sort();
    paths.iter().map(|path| program(path)).collect()
}

fn program(path: &Path) -> (String, Program, Expectations) {
    let text = std::fs::read_to_string(path).expect("an example is text");
    let name = path.file_stem().and_then(|it| it.to_str()).expect("names are text").to_owned();
    let expected = Expectations::read(&text).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
    assert!(expected.has_source && expected.is_any(), "{name}: the header says too little");
    let program = fencewright::parse(&path.display().to_string(), &text).unwrap_or_else(|wrong| panic!("{wrong}"));
    (name, program, expected)
}

/// What an engine says about all headers that name a model of release/acquire, and how many there are.
fn hold_all(folder: &str, engine: &dyn Engine, may_leave_open: bool) -> usize {
    let options = Options::default();
    let (mut wrong, mut n) = (String::new(), 0);
    for (name, program, expected) in programs(folder) {
        for &(model, verdict) in &expected.verdicts {
            let is_left = Model::BUFFERED.contains(&model) && folder != "examples/release_acquire";
            if is_left || (model.messaging().is_none() && engine.takes(&Task::new(&program, model, &options)).is_err())
            {
                continue;
            }
            n += 1;
            match hold(verdict, &engine.check(&Task::new(&program, model, &options), &Unlimited)) {
                Held::Yes(_) => {}
                Held::Unknown(_) if may_leave_open => {}
                held @ (Held::No(_) | Held::Unknown(_) | Held::Refused(_)) => {
                    let _ = writeln!(wrong, "{name}: {model}: {held:?}");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    n
}

#[test]
fn headers_hold() {
    let auto = named("auto").expect("it is there");
    assert!(hold_all("examples/release_acquire", auto, false) > 100, "there are programs");
}

#[test]
fn races_hold() {
    let options = Options::default();
    let mut n = 0;
    for (name, program, expected) in programs("examples/release_acquire") {
        for &(model, verdict, _) in &expected.races {
            for engine in [&Auto as &dyn Engine, &Potential] {
                let held = hold_race(verdict, engine, &Task::new(&program, model, &options), &Unlimited);
                assert!(matches!(held, Held::Yes(_)), "{name}: {} under {model}: {held:?}", engine.name());
                n += 1;
            }
        }
    }
    assert!(n >= 20, "there are only {n}");
}

#[test]
fn litmus_tests_hold() {
    let n = hold_all("examples/litmus", &Explicit::DEFAULT, false);
    assert!(n >= 4 * 46, "there are only {n}");
    hold_all("examples/litmus", &Potential, true);
}

/// How many constraints the engine keeps under SRA: no more than the study from which the rules come.
#[test]
fn constraints_are_few() {
    const MOST: &[(&str, u64)] = &[
        ("dekker_simple", 110),
        ("dekker_simple_3", 11_772),
        ("dekker", 102),
        ("dekker_fenced", 136),
        ("peterson", 171),
        ("peterson_fence_turn", 183),
        ("peterson_fence_flag", 361),
        ("peterson_fences", 245),
        ("peterson_swap", 328),
        ("burns", 148),
        ("burns_3", 27_507),
        ("bakery", 10_000),
        ("bakery_fences", 14_485),
        ("spinlock_6", 120),
        ("ttas_3", 126),
        ("ticket_2", 1_091),
        ("ticket_3", 11_254),
        ("token_4", 850),
        ("seqlock", 159),
        ("seqlock_readers", 160),
        ("seqlock_broken", 179),
        ("seqlock_wraps_once", 114),
        ("ring_1", 171),
        ("rcu", 255),
        ("rcu_readers", 6_588),
        ("rcu_fenced", 180),
        ("rcu_readers_fenced", 9_976),
    ];
    let options = Options::default();
    let all = programs("examples/release_acquire");
    let mut found = String::new();
    for &(wanted, most) in MOST {
        let (name, program, _) = all.iter().find(|it| it.0 == wanted).expect("there is such an example");
        let answer = Potential.check(&Task::new(program, Model::Sra, &options), &Unlimited).expect("it is taken");
        let _ = writeln!(found, "{name}: {} of {most}", answer.stats.kept);
        assert!(answer.stats.kept <= most, "{found}");
    }
    println!("{found}");
}

/// Constraints that differ by names only are compared under all names: else five threads kept 11,648 of them.
#[test]
fn names_do_not_keep_constraints_apart() {
    let text = std::fs::read_to_string(root().join("examples/release_acquire/ttas_3.fw")).expect("an example is text");
    let options = Options::default();
    for (n, most) in [(2, 12), (3, 126), (4, 170), (5, 170)] {
        let text = text.replace("P(i: 0..2)", &format!("P(i: 0..{})", n - 1));
        let program = fencewright::parse("ttas", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
        let answer = Potential.check(&Task::new(&program, Model::Sra, &options), &Unlimited).expect("it is taken");
        assert!(matches!(answer.verdict, Verdict::Safe), "{n} threads: {:?}", answer.verdict);
        println!("{n} threads: {}", answer.stats.kept);
        assert!(answer.stats.kept <= most, "{n} threads: {} of {most}", answer.stats.kept);
    }
}

/// All minimal sets of fences under SRA, by the places of the text: how many sets, and of how many fences; nothing
/// where none is needed.
#[test]
fn minimal_fence_sets() {
    let as_it_is = |text: String| text;
    let bare = |text: String| text.replace("fence;", "");
    type Row = (&'static str, fn(String) -> String, Place, Option<(usize, usize)>);
    let rows: [Row; 10] = [
        ("release_acquire/peterson", as_it_is, Place::AfterStores, Some((1, 2))),
        ("release_acquire/dekker", as_it_is, Place::AfterStores, Some((1, 2))),
        ("release_acquire/burns", bare, Place::AfterStores, Some((1, 1))),
        ("release_acquire/bakery", as_it_is, Place::AfterStores, Some((2, 2))),
        ("release_acquire/rcu", as_it_is, Place::AfterStores, Some((1, 2))),
        ("release_acquire/ring_1", as_it_is, Place::AfterStores, None),
        ("release_acquire/seqlock", as_it_is, Place::AfterStores, None),
        ("release_acquire/ticket_2", as_it_is, Place::AfterStores, None),
        // In `take` behind the store of `bottom`, in `steal` between the loads: Lê, Pop, Cohen, Zappa Nardelli 2013.
        ("papers/chase_lev", as_it_is, Place::Anywhere, Some((2, 2))),
        ("papers/chase_lev_fenced", as_it_is, Place::AfterStores, Some((0, 0))),
    ];
    for (name, change, place, wanted) in rows {
        let path = root().join("examples").join(format!("{name}.fw"));
        let text = change(std::fs::read_to_string(&path).expect("an example is text"));
        let program = fencewright::parse(name, &text).unwrap_or_else(|wrong| panic!("{wrong}"));
        let options = Options::default();
        let task = Task::new(&program, Model::Sra, &options);
        let all = candidates(&program, &place, By::Source).expect("no labels are asked for");
        let request = Request::all(&all);
        let found = synthesize(&Auto, &task, &request, &Unlimited).expect("it is taken");
        let sizes = match &found.outcome {
            Outcome::Correct => None,
            Outcome::Fixed(sets) => Some((sets.len(), sets.iter().map(|set| set.fences.0.len()).max().unwrap_or(0))),
            // Fences behind stores alone do not keep the loads of a thief in order.
            Outcome::Unfixable(..) => Some((0, 0)),
            Outcome::Unknown(reason) => panic!("{name}: {reason}"),
        };
        assert_eq!(sizes, wanted, "{name}");
        if !name.ends_with("bakery") {
            let certified = certify_fences(&task, (&place, By::Source), &request, &found, &Unlimited);
            certified.unwrap_or_else(|reason| panic!("{name}: {reason}"));
        }
    }
}

/// Litmus shapes with every load and the end of memory shown: how many outcomes SRA and RA have. Where each location
/// has at most two stores, of different values, outcomes are execution graphs; GenMC counts as many under RC11 in its
/// tests of these names.
#[test]
fn outcomes_are_as_many_as_execution_graphs() {
    let rows = [
        ("2+2W", "x = 1; y = 2; | y = 1; x = 2;", 3, 4),
        ("CoRR", "x = 1; x = 2; | let a = x; let b = x;", 6, 6),
        ("CoRW", "let a = x; x = 1; | x = 2;", 3, 3),
        ("CoWR", "x = 1; let a = x; | x = 2;", 3, 3),
        ("LB", "let a = y; x = 1; | let b = x; y = 1;", 3, 3),
        ("MP", "x = 1; y = 1; | let a = y; let b = x;", 3, 3),
        ("SB", "x = 1; let a = y; | y = 1; let b = x;", 4, 4),
        ("MP+incMP", "let a = y; let b = fetch_add(z, 1); | let c = fetch_add(z, 1); let d = x; | x = 1; y = 1;", 7, 7),
        ("default", "let a = x; let b = x; | x = 1; | x = 2;", 12, 12),
        ("small0", "let a = x; | let b = x; x = 1; | x = 2;", 9, 9),
    ];
    for (name, threads, sra, ra) in rows {
        let threads = threads.split('|').enumerate().map(|(i, it)| format!("thread P{i} {{ {it} }}\n"));
        let text = format!("shared x, y, z: 0..2 = 0;\n{}", threads.collect::<String>());
        let program = fencewright::parse(name, &text).unwrap_or_else(|wrong| panic!("{wrong}"));
        let processes = program.processes().iter_enumerated();
        let registers = processes.flat_map(|(id, it)| it.registers.indices().map(move |r| StateVar::Register(id, r)));
        let shown: Vec<StateVar> = registers.chain(program.locations().indices().map(StateVar::Memory)).collect();
        let options = Options::default();
        for (model, wanted) in [(Model::Sra, sra), (Model::Ra, ra)] {
            let found =
                outcomes(&Auto, &Task::new(&program, model, &options), &shown, &Unlimited).expect("it is taken");
            assert!(found.stopped.is_none(), "{name} under {model}");
            assert_eq!(found.values.len(), wanted, "{name} under {model}");
        }
    }
}
