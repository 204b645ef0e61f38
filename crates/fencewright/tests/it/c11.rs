//! The programs about C11: what their headers say, and how many states that takes.

use std::fmt::Write as _;
use std::path::Path;

use fencewright::certificate::{Certificate, Claim, Proof, parse, verify, write};
use fencewright::engine::data_race::ask_safety;
use fencewright::engine::views::Views;
use fencewright::engine::{Engine, Options, Task, named};
use fencewright::expectation::{Expectations, Held, hold, hold_race, hold_robust};
use fencewright::program::Program;
use fencewright::prove::certify;
use fencewright::source::Source;
use fencewright::watch::Unlimited;

use crate::common::expectation::root;
use crate::common::law::is_thorough;

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

/// Programs with many states, which are looked at where all patience is wanted.
const LARGE: [&str; 10] = [
    "dekker_fence",
    "peterson_fences",
    "peterson_seq_cst",
    "peterson_swap",
    "seqlock_2",
    "spinlock_3",
    "spinlock_4",
    "ticket_acq_rel",
    "ticket_acq_rel_3",
    "ttas_3",
];

/// Every verdict has a certificate, and no other number of states is believed.
#[test]
fn verdicts_are_certified() {
    let auto: &'static dyn Engine = named("auto").expect("it is there");
    let options = Options { threads: 1, ..Options::default() };
    let (mut n_safe, mut n_unsafe) = (0, 0);
    for (name, program, expected) in programs() {
        if LARGE.contains(&&name[..]) && !is_thorough() {
            continue;
        }
        for &(model, _) in expected.verdicts.iter().filter(|it| it.0.language().is_some()) {
            let task = Task::new(&program, model, &options);
            let proved = certify(auto, &task, &Unlimited).unwrap_or_else(|it| panic!("{name}: {it}"));
            let Some(certificate) = proved.certificate else { panic!("{name}: {:?}", proved.answer.verdict) };
            let again = parse(&Source::new("certificate", write(&certificate))).unwrap_or_else(|it| panic!("{it:?}"));
            assert_eq!(again, certificate, "{name}");
            verify(&program, &again, &Unlimited).unwrap_or_else(|it| panic!("{name}: {it}"));
            let Claim::Safe(placement, Proof::Views(n_states)) = &certificate.claim else {
                n_unsafe += 1;
                continue;
            };
            n_safe += 1;
            for wrong in [n_states - 1, n_states + 1] {
                let claim = Claim::Safe(placement.clone(), Proof::Views(wrong));
                let forged = Certificate { claim, subject: certificate.subject.clone() };
                assert!(verify(&program, &forged, &Unlimited).is_err(), "{name}: {wrong} states");
            }
        }
    }
    assert!(n_safe >= 10 && n_unsafe >= 10, "{n_safe} safe, {n_unsafe} unsafe");
}

/// How many states the engine looks at for safety, at most twice what a study of these rules took.
#[test]
fn states_are_few() {
    const MOST: &[(&str, u64)] = &[
        ("spinlock", 202),
        ("spinlock_3", 2_666),
        ("spinlock_4", 61_986),
        ("ttas", 544),
        ("ttas_3", 20_584),
        ("message", 14),
        ("double_checked", 136),
        ("peterson_fences", 18_128),
        ("peterson_swap", 3_708),
        ("peterson_seq_cst", 6_808),
        ("dekker_fence", 18_636),
        ("seqlock", 1_222),
        ("seqlock_2", 123_918),
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
