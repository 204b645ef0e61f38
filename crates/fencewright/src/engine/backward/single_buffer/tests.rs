//! The order, and minimal predecessors, on tiny buffers.

use crate::engine::automaton::{Datum, Letter, LetterEdge, LocalId, ProcessAutomaton, RegisterFree, StateInfo};
use crate::engine::backward::WellStructured;
use crate::engine::backward::channel::{Channel, Message};
use crate::engine::backward::processes::Processes;
use crate::engine::backward::single_buffer::constraint::{ABSENT, Constraint};
use crate::engine::backward::single_buffer::system::{Reducing, SingleBuffer};
use crate::engine::backward::snapshot::STAR;
use crate::memory::Flush;
use crate::program::{Builder, LocationId, ProcessId};
use crate::source::Source;
use crate::system::{Action, Step};
use crate::util::Idx;

/// `x=1,y=* p0 p1 own0x | …`: cells, pointers, own marks of the processes 0 and 1 and the locations x and y. A process
/// that points nowhere is absent.
fn parsed(text: &str) -> Constraint {
    let word: Vec<Message> = text.split('|').map(message).collect();
    let points = |process: usize| word.iter().any(|it| it.pointers.contains(ProcessId::from_usize(process)));
    Constraint {
        states: (0..2).map(|process| if points(process) { 0 } else { ABSENT }).collect(),
        channel: Channel(word),
    }
}

fn message(text: &str) -> Message {
    let mut words = text.split_whitespace();
    let cell = |cell: &str| if cell == "*" { STAR } else { cell.parse::<Datum>().expect("a cell is a number") };
    let memory = words.next().expect("a message has cells").split(',').map(cell).collect();
    let mut message = Message { pointers: Processes::default(), own: None, memory };
    for word in words {
        match word.strip_prefix("own") {
            Some("0x") => message.own = Some((ProcessId::from_usize(0), LocationId::from_usize(0))),
            Some("1y") => message.own = Some((ProcessId::from_usize(1), LocationId::from_usize(1))),
            Some(_) => panic!("`{word}` is not used"),
            None => {
                let process = word.strip_prefix('p').and_then(|it| it.parse().ok()).expect("a pointer is `p0`");
                message.pointers = message.pointers.with(ProcessId::from_usize(process));
            }
        }
    }
    message
}

#[test]
fn order() {
    let check = |general: &str, special: &str, expected: bool| {
        assert_eq!(parsed(general).covers(&parsed(special)), expected, "{general}   ⊑   {special}");
    };
    check("0,0 p0 p1", "0,0 p0 p1", true);
    check("*,0 p0 p1", "1,0 p0 p1", true);
    check("1,0 p0 p1", "*,0 p0 p1", false);
    check("0,0 p0 p1", "0,0 p0 | 0,0 p1", false);
    check("0,0 p0 | 0,0 p1", "0,0 p0 | 1,1 | 0,0 p1", true);
    check("0,0 p0 | 1,1 | 0,0 p1", "0,0 p0 | 0,0 p1", false);
    check("0,0 p0 p1 | 1,0 own0x", "0,0 p0 p1 | 2,0 | 1,0 own0x", true);
    check("0,0 p0 p1 | 1,0 own0x", "0,0 p0 p1 | 0,1 own1y | 1,0 own0x", false);
    check("0,0 p0 p1 | 1,0 own0x", "0,0 p0 p1 | 1,0 own0x | 1,1", false);
    check("0,0 p0 | *,1 | 1,1 p1", "0,0 p0 | 2,2 | 2,1 | 1,1 p1", true);
    check("0,0 p0", "1,0 p1 | 0,0 p0", true);
    check("0,0 p0", "0,0 p0 | 0,0 p1", false);
    check("0,0 p0 | *,* ", "0,0 p0 p1 | 0,1 own1y", true);
}

/// A process that goes through these letters.
fn line(process: usize, letters: &[Letter]) -> ProcessAutomaton {
    let info = |_| StateInfo { local: LocalId::from_word(0), point: None, registers: Box::default(), fault: None };
    let n_states = letters.len() + 1;
    let action = Action::Flush(Flush::Marker);
    let step = Step { process: ProcessId::from_usize(process), action };
    let edge = |(from, letter): (u32, &Letter)| LetterEdge { from, to: from + 1, letter: letter.clone(), step };
    ProcessAutomaton {
        states: (0..n_states).map(info).collect(),
        initial: [(0, Vec::new())].into(),
        edges: (0..).zip(letters).map(edge).collect(),
        incoming: (0..n_states as u32).map(|state| state.checked_sub(1).into_iter().collect()).collect(),
        outgoing: (0..n_states as u32)
            .map(|state| (state + 1 < n_states as u32).then_some(state).into_iter().collect())
            .collect(),
    }
}

/// The predecessors by the process 0, which is `w(x,1); r(y,0)`; the process 1 is `w(y,1)`.
#[test]
fn predecessors() {
    const PLAIN: Reducing = Reducing {
        update_steps: false,
        lag_region: false,
        last_writes: false,
        single_writer: false,
        suffix_equality: false,
        absent: false,
    };
    let [x, y] = [0, 1].map(LocationId::from_usize);
    let first = line(0, &[Letter::Write(x, 1), Letter::Read(y, 0)]);
    let program = RegisterFree {
        values: vec![vec![0, 1]; 2].into(),
        initial: vec![vec![0]; 2].into(),
        processes: vec![first, line(1, &[Letter::Write(y, 1)])].into(),
    };
    let source = Builder::new(Source::new("t", "")).finish();
    let check = |of: (u32, &str), expected: &[(u32, &str)]| {
        let at = |&(state, text): &(u32, &str)| Constraint { states: vec![state, 1].into(), ..parsed(text) };
        let mut found = Vec::new();
        SingleBuffer::new(&source, &program, PLAIN).predecessors(&at(&of), &mut found);
        let found: Vec<_> =
            found.into_iter().filter(|it| it.0.process.index() == 0).map(|(_, constraint)| constraint).collect();
        let expected: Vec<_> = expected.iter().map(at).collect();
        assert!(found.len() == expected.len() && expected.iter().all(|it| found.contains(it)), "{of:?}: {found:#?}");
    };
    // A read finds its value at the pointer; an update comes from a message that does not matter any more.
    check((2, "0,* p0 p1"), &[(1, "0,0 p0 p1"), (2, "*,* p0 | 0,* p1"), (2, "*,* p0 | 0,* p1 own0x")]);
    // A write that everybody goes along with.
    check((1, "1,0 p0 p1"), &[(0, "*,0 p0 p1"), (1, "*,* p0 | 1,0 p1"), (1, "*,* p0 | 1,0 p1 own0x")]);
    // A write that stays behind, on the message before or on one that it shadows.
    check(
        (1, "0,0 p0 p1 | 1,0 own0x"),
        &[(0, "0,0 p0 p1"), (0, "0,0 p0 p1 | *,0 own0x"), (1, "*,* p0 | 0,0 p1 | 1,0 own0x")],
    );
    // The newest message is another's.
    check(
        (1, "0,0 p0 p1 | 0,1 own1y"),
        &[(1, "*,* p0 | 0,0 p1 | 0,1 own1y"), (1, "*,* p0 | 0,0 p1 own0x | 0,1 own1y")],
    );
    // An update from a message that is there.
    check(
        (2, "0,0 p1 | 0,0 p0"),
        &[(1, "0,0 p1 | 0,0 p0"), (2, "0,0 p1 | *,* p0 | 0,0 own0x"), (2, "0,0 p0 p1 | 0,0 own0x")],
    );
}
