//! Invariants and counts: what they come down to, and what engines say that cannot see one.

use fencewright::engine::backward::load_buffer::LoadBuffer;
use fencewright::engine::explicit::Explicit;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Engine, Options, Task, Verdict};
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Op, Placement, Position, Program, PropertyKind, Side};
use fencewright::watch::Unlimited;

fn program(text: &str) -> Program {
    fencewright::parse("t.fw", text).unwrap_or_else(|it| panic!("{it}"))
}

const THREE: &str = "shared x: 0..1; thread P(i: 0..2) { x = 1; l: x = 0; } ";

fn situations(property: &str) -> String {
    let program = program(&format!("{THREE}{property}"));
    program.properties().iter().map(|it| format!("{:?}", it.situations)).collect()
}

#[test]
fn a_count_is_every_choice_of_members() {
    let pairs = "forbid P(i)@l && P(j)@l for i in 0..1, j in i+1..2;";
    assert_eq!(situations("forbid #P@l >= 2;"), situations(pairs));
    assert_eq!(situations("forbid #P@l > 1;"), situations(pairs));
    assert_eq!(situations("forbid 2 <= #P@l;"), situations(pairs));
    assert_eq!(situations("const N = 2; forbid (#P@l >= N);"), situations(pairs));
    assert_eq!(situations("forbid #P@l >= 1;"), situations("forbid P(i)@l for i in 0..2;"));
    assert_eq!(situations("forbid #P@l >= 3 && x == 1;"), situations("forbid P(0)@l && P(1)@l && P(2)@l && x == 1;"));
    assert_eq!(
        situations("forbid #P@l >= 3 || #P@end >= 3;"),
        situations("forbid P(0)@l && P(1)@l && P(2)@l || P(0)@end && P(1)@end && P(2)@end;")
    );
}

#[test]
fn a_count_is_told_with_its_members() {
    let program = program(&format!("{THREE}forbid #P@l >= 2 && x == 1;"));
    let property = &program.properties()[fencewright::util::Idx::from_usize(0)];
    assert_eq!(property.kind, PropertyKind::Invariant);
    let said: Vec<String> = (0..property.situations.len()).map(|it| property.says(Some(it))).collect();
    assert_eq!(said, ["P(0)@l && P(1)@l && x == 1", "P(0)@l && P(2)@l && x == 1", "P(1)@l && P(2)@l && x == 1"]);
    assert_eq!(property.says(None), "#P@l >= 2 && x == 1");
}

/// A thread beside a fence is at no place that an observer could hold it at.
#[test]
fn registers_of_a_thread_that_is_anywhere_are_refused_beside_fences_by_name() {
    let program =
        program("shared x, y: 0..1; thread P { x = 1; let r = y; } thread Q { y = 1; } forbid P.r == 1 && x == 0;");
    let options = Options::default();
    let after = program.edges().iter_enumerated().filter(|(_, it)| matches!(it.op, Op::Store(..)));
    let fences: Placement = after.map(|(edge, _)| (Position { edge, side: Side::After }, FenceKind::Full)).collect();
    for placement in [&Placement::NONE, &fences] {
        let task = Task { program: &program, placement, model: Model::Tso, options: &options };
        let is_safe = !placement.is_empty();
        for engine in [&Auto as &dyn Engine, &Explicit::DEFAULT] {
            let verdict = engine.check(&task, &Unlimited).expect("it takes every program").verdict;
            assert_eq!(matches!(verdict, Verdict::Safe), is_safe, "{}", engine.name());
        }
        match LoadBuffer.check(&task, &Unlimited) {
            Ok(answer) => assert!(matches!(answer.verdict, Verdict::Unsafe(_)) && placement.is_empty()),
            Err(refusal) => {
                assert!(refusal.reason.contains("registers of `P` wherever `P` is"), "{}", refusal.reason);
                assert!(!placement.is_empty() && LoadBuffer.takes(&task).is_err());
            }
        }
    }
}
