//! The order, and minimal predecessors, on tiny buffers.

use crate::engine::automaton::{Letter, RegisterFree};
use crate::engine::backward::WellStructured;
use crate::engine::backward::single_buffer::constraint::{ABSENT, Constraint};
use crate::engine::backward::single_buffer::system::{Reducing, SingleBuffer};
use crate::engine::backward::tiny::{channel, line, x, y};
use crate::program::{Builder, ProcessId};
use crate::source::Source;
use crate::util::Idx;

/// A process that points nowhere is absent.
fn parsed(text: &str) -> Constraint {
    let channel = channel(text);
    let points = |process: usize| channel.0.iter().any(|it| it.pointers.contains(ProcessId::from_usize(process)));
    Constraint { states: (0..2).map(|process| if points(process) { 0 } else { ABSENT }).collect(), channel }
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
    let first = line(0, &[Letter::Write(x(), 1), Letter::Read(y(), 0)]);
    let program = RegisterFree {
        values: vec![vec![0, 1]; 2].into(),
        initial: vec![vec![0]; 2].into(),
        processes: vec![first, line(1, &[Letter::Write(y(), 1)])].into(),
        unmerged: Vec::new().into(),
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
