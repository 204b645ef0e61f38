//! The programs about C11: what their headers say, and how many states that takes.

use std::fmt::Write as _;
use std::path::Path;

use fencewright::engine::data_race::ask_safety;
use fencewright::engine::views::Views;
use fencewright::engine::{Engine, Options, Task, named};
use fencewright::expectation::{Expectations, Held, hold, hold_race, hold_robust};
use fencewright::program::Program;
use fencewright::watch::Unlimited;

use crate::common::expectation::root;

fn programs() -> Vec<(String, Program, Expectations)> {
    let folder = root().join("examples/c11");
    let entries = std::fs::read_dir(folder).expect("the examples can be listed");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("the examples can be listed").path()).collect();
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

#[test]
fn headers_hold() {
    let auto: &'static dyn Engine = named("auto").expect("it is there");
    let options = Options { threads: 1, ..Options::default() };
    let mut wrong = String::new();
    for (name, program, expected) in programs() {
        let task = |model| Task::new(&program, model, &options);
        let verdicts = expected
            .verdicts
            .iter()
            .map(|&(model, verdict)| (format!("{model}"), hold(verdict, &ask_safety(auto, &task(model), &Unlimited))));
        let races = expected
            .races
            .iter()
            .map(|&(model, verdict, _)| (format!("{model} race"), hold_race(verdict, auto, &task(model), &Unlimited)));
        let robust = expected.robust.iter().map(|&(model, question, verdict, _)| {
            (format!("{model} {question}"), hold_robust(question, verdict, auto, &task(model), &Unlimited))
        });
        for (what, held) in verdicts.chain(races).chain(robust) {
            if !matches!(held, Held::Yes(_)) {
                let _ = writeln!(wrong, "{name}: {what}: {held:?}");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// How many states the engine looks at for safety, at most twice what a study of these rules took.
#[test]
fn states_are_few() {
    const MOST: &[(&str, u64)] = &[
        ("spinlock", 202),
        ("spinlock_3", 2_666),
        ("ttas", 544),
        ("ttas_3", 20_584),
        ("message", 14),
        ("double_checked", 136),
        ("peterson_fences", 18_128),
        ("peterson_swap", 3_708),
        ("peterson_seq_cst", 6_808),
        ("dekker_fence", 18_636),
        ("seqlock", 1_222),
        ("ring", 1_770),
        ("rcu", 6_320),
        ("chase_lev", 3_938),
    ];
    let options = Options { threads: 1, ..Options::default() };
    let all = programs();
    let mut found = String::new();
    for &(wanted, most) in MOST {
        let (name, program, expected) = all.iter().find(|it| it.0 == wanted).expect("there is such an example");
        let model = expected.verdicts[0].0;
        let answer = ask_safety(&Views, &Task::new(program, model, &options), &Unlimited).expect("it is taken");
        let _ = writeln!(found, "{name}: {} of {most}", answer.stats.kept);
        assert!(answer.stats.kept <= most, "{found}");
    }
    println!("{found}");
}
