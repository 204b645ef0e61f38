//! What is easily got wrong about potentials, one small program each: all locations start at 0, and all threads come to
//! their ends. Each was made for a mistake that was put into the rules, and shows it.

use fencewright::engine::backward::potential::{Potential, Weakly};
use fencewright::engine::explicit::Explicit;
use fencewright::engine::{Engine, Options, Task, Verdict};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::watch::Unlimited;

use crate::common::causal::{Event, reached};
use crate::common::law::program_of;

pub(crate) const NAMES: [&str; 9] = ["x", "y", "z", "w", "u", "r", "d", "f", "g"];

/// `W x 1; R y 0; U x 0 1; F | …`: its events, and its text.
pub(crate) fn read(short: &str) -> (Vec<Vec<Event>>, String) {
    let mut out = format!("shared {}: 0..2 = 0;\n", NAMES.join(", "));
    let mut threads = Vec::new();
    let place = |name: &str| NAMES.iter().position(|it| *it == name).expect("a location has a name");
    let value = |text: &str| text.parse::<usize>().expect("a value is a number");
    for (t, thread) in short.split('|').enumerate() {
        out.push_str(&format!("thread T{t} {{\n"));
        let mut events = Vec::new();
        for (i, op) in thread.split(';').enumerate() {
            let (event, text) = match *op.split_whitespace().collect::<Vec<_>>() {
                ["W", x, v] => ((place(x), None, Some(value(v))), format!("{x} = {v};")),
                ["R", x, v] => ((place(x), Some(value(v)), None), format!("let r{i} = {x}; assume(r{i} == {v});")),
                ["U", x, v, w] => ((place(x), Some(value(v)), Some(value(w))), format!("assume(cas({x}, {v}, {w}));")),
                ["F"] => ((NAMES.len(), Some(0), Some(0)), "fence;".to_owned()),
                _ => panic!("no operation: {op}"),
            };
            let (place, read, write) = event;
            events.push(Event { place, read, write });
            out.push_str(&format!("    {text}\n"));
        }
        out.push_str("done: let end = 0;\n}\n");
        threads.push(events);
    }
    let ends: Vec<String> = (0..threads.len()).map(|t| format!("T{t}@done")).collect();
    out.push_str(&format!("forbid {};\n", ends.join(" && ")));
    (threads, out)
}

pub(crate) fn says(engine: &dyn Engine, program: &Program, model: Model, options: &Options) -> Option<bool> {
    let answer = engine.check(&Task::new(program, model, options), &Unlimited).expect("it is taken");
    match answer.verdict {
        Verdict::Safe => Some(false),
        Verdict::Unsafe(_) => Some(true),
        Verdict::Unknown(_) => None,
    }
}

/// Whether all threads come to their ends under SC, SRA, RA and WRA: `nyyy`.
fn check(name: &str, wanted: &str, short: &str) {
    let (threads, text) = read(short);
    let slices: Vec<_> = threads.iter().map(|it| &it[..]).collect();
    let truth = reached(&slices, NAMES.len());
    let word = |it: bool| if it { 'y' } else { 'n' };
    let found: String = [truth.sc, truth.sra, truth.ra, truth.wra].map(word).iter().collect();
    assert_eq!(found, wanted, "{name}: graphs of {short}");
    let program = program_of(text).unwrap_or_else(|wrong| panic!("{short}: {wrong}"));
    let options = Options::default();
    for (model, is) in [(Model::Sc, truth.sc), (Model::Sra, truth.sra), (Model::Ra, truth.ra)] {
        assert_eq!(says(&Explicit::DEFAULT, &program, model, &options), Some(is), "{name}: explicit, {model}: {short}");
    }
    let all = Potential.card().reductions;
    let each = all.iter().map(|&it| [it].into()).chain([[].into(), all.iter().copied().collect()]);
    for without in each {
        let options = Options { without, ..Options::default() };
        assert_eq!(says(&Potential, &program, Model::Sra, &options), Some(truth.sra), "{name}: {options:?}: {short}");
        let ra = says(&Potential, &program, Model::Ra, &options);
        assert!(ra.is_none_or(|ra| ra == truth.ra), "{name}: RA, {options:?}: {short}");
        // An alarm of weak release/acquire is no verdict.
        let is_safe = says(&Weakly, &program, Model::Ra, &options) == Some(false);
        assert_eq!(is_safe, !truth.wra, "{name}: WRA, {options:?}: {short}");
    }
}

#[test]
fn what_is_read_behind_a_new_message_its_writer_could_read() {
    check("P1", "nnnn", "W x 1 | R x 1; W y 1 | R y 1; R x 0");
    check("P11", "nnnn", "W y 1 | R y 1; R x 1; R y 0 | W x 1");
}

#[test]
fn an_older_message_of_the_same_kind_may_be_meant() {
    let last = "W u 2; R x 1; R y 0; R z 1; R x 1 | R u 1; R u 2 | R r 1; R r 2";
    let first = "W x 1; W y 1; W r 2; W x 1; W u 1 | R x 1; W x 2; W z 1; W r 1";
    check("P2", "nyyy", &format!("{first} | {last}"));
    check("P3", "nyyy", "W x 1; W y 1; W x 1; W u 1 | W u 2; R x 1; R y 0 | R u 1; R u 2");
}

#[test]
fn messages_are_told_apart_by_their_writers() {
    check("P4", "nnnn", "W y 1; W x 1 | W z 1; W x 1 | R x 1; W w 1; R z 0 | R w 1; R y 0");
}

#[test]
fn no_message_is_last_once_there_is_another() {
    check("P5", "nnnn", "U x 0 1 | U x 0 2");
    check("P5", "nnnn", "W x 1; F; R y 0 | W y 1; F; R x 0");
    check("P10", "nnnn", "W x 1; F; R y 0 | W y 1; F; R x 0 | W z 1");
    check("P9", "nnnn", "U x 0 1 | U x 0 1");
    check("P9, of a message that was written", "nnnn", "W x 1 | U x 1 2 | U x 1 2");
}

#[test]
fn an_own_store_hides_what_is_older() {
    check("P6", "nnyy", "W x 1; W y 2; R y 1 | W y 1; W x 2; R x 1");
    check("P8", "nnnn", "W x 1 | R x 1; W x 2; R x 1");
}

#[test]
fn only_what_is_read_at_once_is_read_once() {
    check("P7", "nnnn", "W x 1 | R x 1; W x 2; W y 1 | R x 1; R y 1; R x 1");
}

#[test]
fn updates_are_no_fences_but_of_one_location() {
    check("P12", "nyyy", "W x 1; U f 0 1; R y 0 | W y 1; U g 0 1; R x 0");
    check("P13", "nnnn", "W d 1; U x 0 1 | U x 1 2 | R x 2; R d 0");
    check("P14", "nyyy", "U x 0 1; R y 0 | U y 0 1; R x 0");
}

#[test]
fn readers_need_not_agree() {
    check("P15", "nyyy", "W x 1 | W y 1 | R x 1; R y 0 | R y 1; R x 0");
    check("P15", "nnnn", "W x 1 | W y 1 | R x 1; F; R y 0 | R y 1; F; R x 0");
    check("P16", "nnny", "W x 1 | W x 2 | R x 1; R x 2; R x 1");
}
