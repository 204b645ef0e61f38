//! The order, minimal predecessors and last writes, on tiny channels.

use crate::engine::automaton::{Letter, RegisterFree};
use crate::engine::backward::WellStructured;
use crate::engine::backward::pws::constraint::Constraint;
use crate::engine::backward::pws::last_writes::LastWrites;
use crate::engine::backward::pws::stores::Stores;
use crate::engine::backward::pws::system::{PartialWriteSerialization, Reducing};
use crate::engine::backward::tiny::{cells, channel, header, line, x, y};
use crate::memory::PsoRmw;
use crate::program::{Builder, FenceKind, ProcessId};
use crate::source::Source;
use crate::util::Idx;

/// `channel ; 0x:1,2 1y:*`: the process 0 is in this state, the process 1 in its state 1; stores are oldest first.
fn parsed((state, text): (u32, &str)) -> Constraint {
    let (messages, pending) = text.split_once(';').unwrap_or((text, ""));
    let mut stores = Stores::default();
    for buffer in pending.split_whitespace() {
        let (of, letters) = buffer.split_once(':').expect("a store buffer is `0x:1`");
        let (process, location) = header(of);
        stores.set(process, location, cells(letters));
    }
    Constraint { states: vec![state, 1].into(), stores, channel: channel(messages) }
}

#[test]
fn order() {
    let check = |general: &str, special: &str, expected: bool| {
        assert_eq!(parsed((0, general)).covers(&parsed((0, special))), expected, "{general}   ⊑   {special}");
    };
    check("0,0 p0 p1 ; 0x:1", "0,0 p0 p1 ; 0x:1", true);
    check("0,0 p0 p1 ; 0x:*", "0,0 p0 p1 ; 0x:1", true);
    check("0,0 p0 p1 ; 0x:1", "0,0 p0 p1 ; 0x:*", false);
    // More may be pending, but not before nothing, and the newest is the same.
    check("0,0 p0 p1 ; 0x:1", "0,0 p0 p1 ; 0x:2,1", true);
    check("0,0 p0 p1 ; 0x:1", "0,0 p0 p1 ; 0x:1,2", false);
    check("0,0 p0 p1 ; 0x:1,1", "0,0 p0 p1 ; 0x:1", false);
    check("0,0 p0 p1 ; 0x:0,*,1", "0,0 p0 p1 ; 0x:0,2,0,1", true);
    check("0,0 p0 p1 ; 0x:0,2,1", "0,0 p0 p1 ; 0x:2,0,1", false);
    check("0,0 p0 p1", "0,0 p0 p1 ; 0x:1", false);
    check("0,0 p0 p1 ; 0x:1", "0,0 p0 p1", false);
    check("0,0 p0 p1 ; 0x:1", "0,0 p0 p1 ; 0y:1", false);
    check("0,0 p0 p1 ; 0x:1", "0,0 p0 p1 ; 1x:1", false);
    // The newest message is the newest, even if it has no mark.
    check("0,0 p0 p1 | 1,0 ; 0x:1", "0,0 p0 p1 | 2,0 | 1,0 ; 0x:1", true);
    check("0,0 p0 p1 | 1,0 ; 0x:1", "0,0 p0 p1 | 1,0 | 2,0 ; 0x:1", false);
    check("0,0 p0 p1 | 1,0 own0x", "0,0 p0 p1 | 1,0 ; 0x:1", false);
}

const PLAIN: Reducing = Reducing {
    update_steps: false,
    lag_region: false,
    last_writes: false,
    single_writer: false,
    suffix_equality: false,
};

/// Checks the predecessors by the process 0, which is `w(x,1); r(y,0); sfence`; the process 1 is `w(y,1)`.
fn check_predecessors(reducing: Reducing, of: (u32, &str), expected: &[(u32, &str)]) {
    let first = [Letter::Write(x(), 1), Letter::Read(y(), 0), Letter::Fence(FenceKind::StoreStore)];
    let program = RegisterFree {
        values: vec![vec![0, 1]; 2].into(),
        initial: vec![vec![0]; 2].into(),
        processes: vec![line(0, &first), line(1, &[Letter::Write(y(), 1)])].into(),
        unmerged: Vec::new().into(),
    };
    let source = Builder::new(Source::new("t", "")).finish();
    let system = PartialWriteSerialization::new(&source, &program, PsoRmw::Location, reducing);
    let mut found = Vec::new();
    system.predecessors(&parsed(of), &mut found);
    let found: Vec<_> =
        found.into_iter().filter(|it| it.0.process.index() == 0).map(|(_, constraint)| constraint).collect();
    let expected: Vec<_> = expected.iter().copied().map(parsed).collect();
    assert!(found.len() == expected.len() && expected.iter().all(|it| found.contains(it)), "{of:?}: {found:#?}");
}

#[test]
fn predecessors() {
    let check = |of, expected: &[_]| check_predecessors(PLAIN, of, expected);
    // A read at the pointer; a store that went into the newest message; an update.
    check(
        (2, "0,* p0 p1"),
        &[(1, "0,0 p0 p1"), (2, "*,* p0 p1 ; 0x:0"), (2, "*,* p0 | 0,* p1"), (2, "*,* p0 | 0,* p1 own0x")],
    );
    // A write is the newest store; it may hide another one.
    check(
        (1, "0,0 p0 p1 ; 0x:1"),
        &[
            (0, "0,0 p0 p1"),
            (0, "0,0 p0 p1 ; 0x:*"),
            (1, "*,0 p0 p1 ; 0x:0,1"),
            // No message is own while a store is pending.
            (1, "*,* p0 | 0,0 p1 ; 0x:1"),
        ],
    );
    // A write that was the first to be pending may have shadowed an own message.
    check(
        (1, "0,0 p0 | 0,0 p1 ; 0x:1"),
        &[
            (0, "0,0 p0 | 0,0 p1"),
            (0, "0,0 p0 | 0,0 p1 own0x"),
            (0, "0,0 p0 | *,* own0x | 0,0 p1"),
            (0, "0,0 p0 | 0,0 p1 ; 0x:*"),
            (1, "0,0 p0 p1 ; 0x:0,1"),
            (1, "0,0 p0 | *,0 p1 ; 0x:0,1"),
            (1, "*,* p0 | 0,0 | 0,0 p1 ; 0x:1"),
        ],
    );
    // A write of another value than the newest store did not come last.
    check((1, "0,0 p0 p1 ; 0x:0"), &[(1, "*,0 p0 p1 ; 0x:0,0"), (1, "*,* p0 | 0,0 p1 ; 0x:0")]);
}

#[test]
fn predecessors_of_fences_and_own_messages() {
    let check = |of, expected: &[_]| check_predecessors(PLAIN, of, expected);
    // The fence passes as soon as all is serialized, the pointer being wherever it is.
    check(
        (3, "0,0 p0 p1 | 1,0 own0x"),
        &[
            (2, "0,0 p0 p1 | 1,0 own0x"),
            (3, "0,0 p0 p1 ; 0x:1"),
            (3, "0,0 p0 p1 | *,0 ; 0x:1"),
            (3, "*,* p0 | 0,0 p1 | 1,0 own0x"),
        ],
    );
    // It does not pass what is pending.
    check((3, "0,0 p0 p1 ; 0x:1"), &[(3, "*,0 p0 p1 ; 0x:0,1"), (3, "*,* p0 | 0,0 p1 ; 0x:1")]);
    // The newest message is another's.
    check(
        (3, "0,0 p0 p1 | 0,1 own1y"),
        &[(2, "0,0 p0 p1 | 0,1 own1y"), (3, "*,* p0 | 0,0 p1 | 0,1 own1y"), (3, "*,* p0 | 0,0 p1 own0x | 0,1 own1y")],
    );
}

#[test]
fn predecessors_where_views_lag_at_fences_only() {
    let check = |of, expected: &[_]| check_predecessors(Reducing { update_steps: true, ..PLAIN }, of, expected);
    // Not after a read: no update. Before no fence: no append without going along.
    check(
        (1, "0,0 p0 | 0,0 p1 ; 0x:1"),
        &[
            (0, "0,0 p0 | 0,0 p1"),
            (0, "0,0 p0 | 0,0 p1 own0x"),
            (0, "0,0 p0 | *,* own0x | 0,0 p1"),
            (0, "0,0 p0 | 0,0 p1 ; 0x:*"),
        ],
    );
    // Before the fence, and after a read, both.
    check(
        (2, "0,0 p0 | 1,0 own0x p1"),
        &[
            (1, "0,0 p0 | 1,0 own0x p1"),
            (2, "0,0 p0 p1 ; 0x:1"),
            (2, "0,0 p0 | *,0 p1 ; 0x:1"),
            (2, "*,* p0 | 0,0 | 1,0 own0x p1"),
        ],
    );
}

/// The last writes of `w(x,1); w(y,1); sfence; w(x,0)`, which are `{y=1} {x=0}`.
#[test]
fn last_writes() {
    let letters =
        [Letter::Write(x(), 1), Letter::Write(y(), 1), Letter::Fence(FenceKind::StoreStore), Letter::Write(x(), 0)];
    let last_writes = LastWrites::new(&line(0, &letters), PsoRmw::Location).expect("they are few");
    let check = |text: &str, expected: Option<&str>| {
        let mut constraint = parsed((4, text));
        let found = last_writes.admit(&mut constraint, ProcessId::from_usize(0)).then_some(constraint);
        assert_eq!(found, expected.map(|text| parsed((4, text))), "{text}");
    };
    check("1,1 p0 p1", Some("1,1 p0 p1"));
    check("*,* p0 p1 | *,* own0y | *,* own0x", Some("*,* p0 p1 | *,1 own0y | 0,* own0x"));
    check("*,* p0 p1 | *,* own0y ; 0x:*", Some("*,* p0 p1 | *,1 own0y ; 0x:0"));
    check("*,* p0 p1 ; 0x:1,*", Some("*,* p0 p1 ; 0x:1,0"));
    check("*,* p0 p1 | *,* own0x", Some("*,* p0 p1 | 0,* own0x"));
    // Another value, another order, passed too early, pending too late.
    check("*,* p0 p1 | 1,* own0x", None);
    check("*,* p0 p1 | *,* own0x | *,* own0y", None);
    check("*,* p0 p1 | *,* own0y", None);
    check("*,* p0 p1 ; 0y:1", None);
}
