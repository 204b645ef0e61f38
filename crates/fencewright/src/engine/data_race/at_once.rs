//! Two accesses to one plain location, one of them a write, about to happen at once: a property of control.
//!
//! Whatever orders accesses comes behind the first of them, so neither is ordered before the other. Accesses in atomic
//! blocks are not looked at.

use crate::engine::data_race::RACE;
use crate::engine::{Question, Reduced, Task, Unmade, Unsupported};
use crate::program::{
    BinaryOp, Edge, Expr, Op, Place, Program, Property, PropertyKind, PropertyWords, RegisterId, Situation, StateVar,
    Value,
};
use crate::source::Span;
use crate::watch::Monitor;

/// More pairs of accesses than this are too many.
const MAX_PAIRS: usize = 50_000;

/// Can two accesses that conflict be about to happen at once?
#[derive(Clone, Copy, Debug)]
pub(super) struct AtOnce;

impl Question for AtOnce {
    fn name(&self) -> &'static str {
        RACE
    }

    fn about(&self) -> &'static str {
        "can two accesses to plain data, one of them a write, be about to happen at once?"
    }

    fn reduce(&self, task: &Task<'_>, _monitor: &dyn Monitor) -> Result<Reduced, Unmade> {
        let program = task.program.with_allocations().with_properties([]).with_assumed(&|_| true);
        let situations = situations(&program)?;
        Ok(Reduced::to_properties(task, program.with_properties([property(situations)])))
    }
}

/// The question as a property.
pub(super) fn property(situations: Vec<Situation>) -> Property {
    let words = PropertyWords { name: Some(RACE.to_owned()), ..PropertyWords::default() };
    let text = "two accesses race".to_owned();
    Property { kind: PropertyKind::Race, situations, text, words, span: Span::default() }
}

fn situations(program: &Program) -> Result<Vec<Situation>, Unsupported> {
    let accesses: Vec<(&Edge, &Place, bool)> = program.edges().iter().filter_map(|edge| plain(program, edge)).collect();
    let mut out = Vec::new();
    for (i, &(a, of, writes)) in accesses.iter().enumerate() {
        for &(b, other, also) in &accesses[i + 1..] {
            if a.process == b.process || !(writes || also) {
                continue;
            }
            let Some(condition) = same(program, (a, of), (b, other)) else { continue };
            let mut at = vec![(a.process, vec![a.from]), (b.process, vec![b.from])];
            at.sort();
            out.push(Situation { at, condition });
        }
        if out.len() > MAX_PAIRS {
            let reason = "too many pairs of accesses to plain data".to_owned();
            return Err(Unsupported { reason, help: "ask about fewer threads".to_owned() });
        }
    }
    Ok(out)
}

/// The plain data that an edge accesses, and whether it writes.
pub(super) fn plain<'p>(program: &Program, edge: &'p Edge) -> Option<(&'p Edge, &'p Place, bool)> {
    let (place, writes) = match &edge.op {
        Op::Load(_, place) => (place, false),
        Op::Store(place, _) => (place, true),
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => return None,
        Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => return None,
    };
    program.is_plain(place).then_some((edge, place, writes))
}

/// When two places are one; never, if nothing.
fn same(program: &Program, (a, of): (&Edge, &Place), (b, other): (&Edge, &Place)) -> Option<Expr<StateVar>> {
    let over = |edge: &Edge, index: &Expr<RegisterId>| {
        let process = edge.process;
        index.map(&mut |register| StateVar::Register(process, *register))
    };
    let equal = |a, b| Some(Expr::binary(BinaryOp::Eq, a, b));
    match (of, other) {
        (Place::Fixed(x), Place::Fixed(y)) => (x == y).then_some(Expr::TRUE),
        (Place::Cell(array, i), Place::Cell(also, j)) => {
            if array != also {
                return None;
            }
            equal(over(a, i), over(b, j))
        }
        (Place::Cell(array, i), Place::Fixed(x)) | (Place::Fixed(x), Place::Cell(array, i)) => {
            let cell = program.arrays()[*array].cells().position(|cell| cell == *x)?;
            let edge = if matches!(of, Place::Cell(..)) { a } else { b };
            equal(over(edge, i), Expr::Const(Value::try_from(cell).ok()?))
        }
    }
}
