//! Tiny channels and processes, for tests.

use crate::engine::automaton::{Datum, Letter, LetterEdge, LocalId, ProcessAutomaton, StateInfo};
use crate::engine::backward::channel::{Channel, Message};
use crate::engine::backward::processes::Processes;
use crate::engine::backward::snapshot::STAR;
use crate::memory::Internal;
use crate::program::{LocationId, ProcessId};
use crate::system::{Action, Step};
use crate::util::Idx;

/// The location x.
pub(super) fn x() -> LocationId {
    LocationId::from_usize(0)
}

/// The location y.
pub(super) fn y() -> LocationId {
    LocationId::from_usize(1)
}

/// `1,* p0 p1 own0x | …`: the cells x and y, pointers, own marks of the processes 0 and 1.
pub(super) fn channel(text: &str) -> Channel {
    Channel(text.split('|').map(message).collect())
}

fn message(text: &str) -> Message {
    let mut words = text.split_whitespace();
    let memory = cells(words.next().expect("a message has cells")).into();
    let mut message = Message { pointers: Processes::default(), own: None, memory };
    for word in words {
        match word.strip_prefix("own") {
            Some(header) => message.own = Some(self::header(header)),
            None => {
                let process = word.strip_prefix('p').and_then(|it| it.parse().ok()).expect("a pointer is `p0`");
                message.pointers = message.pointers.with(ProcessId::from_usize(process));
            }
        }
    }
    message
}

/// `0x`: a process and a location.
pub(super) fn header(text: &str) -> (ProcessId, LocationId) {
    let (process, location) = text.split_at(1);
    let location = match location {
        "x" => x(),
        "y" => y(),
        _ => panic!("`{location}` is not a location"),
    };
    (ProcessId::from_usize(process.parse().expect("a process is a number")), location)
}

/// `1,*`
pub(super) fn cells(text: &str) -> Vec<Datum> {
    let cell = |cell: &str| if cell == "*" { STAR } else { cell.parse().expect("a cell is a number") };
    text.split(',').map(cell).collect()
}

/// A process that goes through these letters.
pub(super) fn line(process: usize, letters: &[Letter]) -> ProcessAutomaton {
    let info = |_| StateInfo { local: LocalId::from_word(0), point: None, registers: Box::default(), fault: None };
    let n_states = letters.len() + 1;
    let action = Action::Internal(Internal::Marker);
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
