//! The order on tiny buffers.

use crate::engine::automaton::Datum;
use crate::engine::backward::single_buffer::constraint::{ABSENT, Constraint, Message, Processes, STAR};
use crate::program::{LocationId, ProcessId};
use crate::util::Idx;

/// `x=1,y=* p0 p1 own0x | …`: cells, pointers, own marks of the processes 0 and 1 and the locations x and y. A process
/// that points nowhere is absent.
fn parsed(text: &str) -> Constraint {
    let word: Vec<Message> = text.split('|').map(message).collect();
    let points = |process: usize| word.iter().any(|it| it.pointers.contains(ProcessId::from_usize(process)));
    Constraint { states: (0..2).map(|process| if points(process) { 0 } else { ABSENT }).collect(), word }
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
