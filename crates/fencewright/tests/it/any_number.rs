//! Any number of threads: what properties mean, instances, fences.

use fencewright::engine::backward::multiset::Multiset;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Engine, Options, StopReason, Task, Verdict, each};
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Placement, Position, Program, Side};
use fencewright::synth::{By, Outcome, Place, Request, candidates, synthesize};
use fencewright::watch::Unlimited;

fn program(text: &str) -> Program {
    fencewright::parse("any.fw", text).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// How many copies of all threads a violation takes; nothing if there is none.
fn copies(text: &str, model: Model) -> Option<usize> {
    let (program, options) = (program(text), Options::default());
    let answer = Auto.check(&Task::new(&program, model, &options), &Unlimited).expect("it is taken");
    match answer.verdict {
        Verdict::Safe => None,
        Verdict::Unsafe(run) => Some(run.instance.expect("it is a run of an instance").copies.values().sum()),
        Verdict::Unknown(reason) => panic!("{text}: {reason}"),
    }
}

/// A thread that takes a lock of so many places, and a property.
fn places(n: usize, property: &str) -> String {
    format!(
        "shared free: 0..{n} = {n}; shared seen: 0..1;
         thread P(*) {{ atomic {{ assume(free > 0); free -= 1; }} a: seen = 1; b: seen = 0; atomic {{ free += 1; }} }}
         thread T {{ let r = seen; c: fence; }}
         {property}"
    )
}

#[test]
fn properties_count_copies() {
    let check = |n: usize, property: &str, expected: Option<usize>| {
        for model in Model::ALL {
            assert_eq!(copies(&places(n, property), model), expected, "{property} with {n} places under {model}");
        }
    };
    check(2, "forbid #P@a >= 2;", Some(2));
    check(2, "forbid #P@a >= 3;", None);
    check(2, "forbid #P@a > 1;", Some(2));
    check(1, "forbid P@a && P@b;", None);
    check(2, "forbid P@a && P@b;", Some(2));
    check(3, "forbid #P@a >= 2 && P@b;", Some(3));
    check(1, "forbid P@a && T@c;", Some(1));
    check(1, "forbid #P@a >= 2 || P@b;", Some(1));
    // Memory, at any time and at the end of a thread that is listed.
    check(2, "forbid P@b && free == 0;", Some(2));
    check(1, "forbid P@a && free == 1;", None);
    check(2, "forbid free == 0 && seen == 1 at end of T;", Some(2));
    check(1, "forbid T.r == 1 at end of T;", Some(1));
}

#[test]
fn an_instance_has_a_situation_for_each_choice_of_copies() {
    let program = program(&places(2, "forbid #P@a >= 2; forbid P@a && P@b;"));
    for n in 1..=4 {
        let instance = program.instance_of_each(n);
        assert_eq!(instance.program.processes().len(), n + 1);
        assert!(!instance.program.is_open());
        let n_situations: Vec<usize> = instance.program.properties().iter().map(|it| it.situations.len()).collect();
        assert_eq!(n_situations, [n * (n - 1) / 2, n * (n - 1)], "{n} copies");
        // A fence over the first copy is one over all of them.
        let store = |(_, it): &(_, &fencewright::program::Edge)| matches!(it.op, fencewright::program::Op::Store(..));
        let first = program.edges().iter_enumerated().find(store).expect("there is a store").0;
        let everywhere = program.copies(first).map(|edge| (Position { edge, side: Side::After }, FenceKind::Full));
        let placement: Placement = everywhere.collect();
        assert_eq!(instance.placement(&placement).iter().count(), n);
    }
}

const BIASED: &str = "shared lock, mine, theirs: 0..1 = 0;
    thread Owner { loop { mine = 1; if (theirs == 0) { critical: mine = 0; } else { mine = 0; } } }
    thread Thief(*) {
        loop {
            while (swap(lock, 1) == 1) {}
            theirs = 1;
            while (mine == 1) {}
        critical:
            theirs = 0;
            lock = 0;
        }
    }
    forbid Owner@critical && Thief@critical;
    forbid #Thief@critical >= 2;";

#[test]
fn one_set_of_fences_is_right_for_every_number() {
    let (program, options) = (program(BIASED), Options::default());
    let task = Task::new(&program, Model::Tso, &options);
    let candidates = candidates(&program, &Place::AfterStores, By::Source).expect("no label is named");
    let found = synthesize(&Auto, &task, &Request::all(&candidates), &Unlimited).expect("it is taken");
    let Outcome::Fixed(sets) = &found.outcome else { panic!("{:?}", found.outcome) };
    assert!(found.is_complete);
    let [only] = &sets[..] else { panic!("{} sets", sets.len()) };
    assert_eq!(only.fences.0.len(), 2);
    let placement = only.fences.placement(&candidates);
    for n in 1..=3 {
        let instance = program.instance_of_each(n);
        let placement = instance.placement(&placement);
        let task = Task { program: &instance.program, placement: &placement, ..task };
        let answer = Auto.check(&task, &Unlimited).expect("it is taken");
        assert!(matches!(answer.verdict, Verdict::Safe), "{n} thieves");
    }
}

#[test]
fn copies_with_different_fences_are_refused() {
    let (program, options) = (program(BIASED), Options::default());
    let store = program.edges().iter_enumerated().find(|(_, it)| {
        matches!(it.op, fencewright::program::Op::Store(..)) && program.processes()[it.process].name == "Thief#2"
    });
    let edge = store.expect("there is a store").0;
    let placement: Placement = [(Position { edge, side: Side::After }, FenceKind::Full)].into_iter().collect();
    let task = Task { placement: &placement, ..Task::new(&program, Model::Tso, &options) };
    let refused = Multiset.check(&task, &Unlimited).expect_err("the copies differ");
    assert!(refused.reason.contains("copies of `Thief`, of which there is any number, differ"), "{}", refused.reason);
}

/// From three threads on, threads that differ are proved by projections; a glance may do for those that are alike.
#[test]
fn auto_proves_fixed_numbers_with_fewer_threads() {
    let flags = "const N = 6; shared flag[N]: 0..1 = 0;
        thread P(i: 0..N-1) {
            loop {
            start:
                flag[i] = 1;
                fence;
                for k in 0..N-1 { if (k != i) { if (flag[k] == 1) { flag[i] = 0; goto start; } } }
            critical:
                flag[i] = 0;
            }
        }
        forbid P(i)@critical && P(j)@critical for i in 0..N-2, j in i+1..N-1;";
    let semaphore = "const N = 6; shared free: 0..2 = 2; shared data: 0..1;
        thread P(i: 1..N) {
            loop {
                atomic { assume(free > 0); free -= 1; }
                data = 1; data = 0;
            critical:
                atomic { free += 1; }
            }
        }
        forbid #P@critical >= 3;";
    for (text, engine) in [(flags, Some("projection")), (semaphore, None)] {
        let (program, options) = (program(text), Options::default());
        for model in [Model::Tso, Model::Pso] {
            let answer = Auto.check(&Task::new(&program, model, &options), &Unlimited).expect("it is taken");
            assert!(matches!(answer.verdict, Verdict::Safe), "{text} under {model}: {:?}", answer.verdict);
            assert_eq!(answer.engine, engine.unwrap_or(answer.engine), "under {model}");
        }
    }
}

/// What is violated besides is told of programs with any number of copies, too: here three of them, of which two are
/// listed.
#[test]
fn each_property_of_any_number_is_judged() {
    let text = "shared n: 0..3 = 0; thread P(*) { let r: 0..3 = 0; atomic { assume(n < 3); r = n; n += 1; }
        assert(r < 2); a: fence; } forbid P@a && n == 1; forbid #P@a >= 8;";
    let (program, options) = (program(text), Options::default());
    let task = Task::new(&program, Model::Tso, &options);
    let answer = Auto.check(&task, &Unlimited).expect("it is taken");
    assert!(matches!(answer.verdict, Verdict::Unsafe(_)));
    let judged = each(&Auto, &task, &answer, &Unlimited);
    assert_eq!(judged.len(), 3);
    assert!(!judged.iter().any(|it| matches!(&it.verdict, Verdict::Unknown(StopReason::Defect(_)))), "{judged:?}");
}

/// A run says whether fewer copies might do: nobody has looked, or a limit has stopped the search.
#[test]
fn a_number_is_the_least_or_says_that_it_may_not_be() {
    let program = program(&places(3, "forbid #P@a >= 3;"));
    let options = Options::default();
    let task = Task::new(&program, Model::Tso, &options);
    let might = |verdict: Verdict| match verdict {
        Verdict::Unsafe(run) => run.instance.expect("it is a run of an instance").fewer_might_do,
        Verdict::Safe | Verdict::Unknown(_) => panic!("there is a run"),
    };
    assert!(!might(Auto.check(&task, &Unlimited).expect("it is taken").verdict));
    assert!(!might(Multiset.check(&task, &Unlimited).expect("it is taken").verdict));
    assert!(might(Multiset.some(&task, &Unlimited).expect("it is taken").verdict));
    let fewer = Multiset.at_most(2, &task, &Unlimited).expect("it is taken").verdict;
    assert!(matches!(fewer, Verdict::Safe), "{fewer:?}");
}
