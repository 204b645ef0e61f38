//! Two accesses to one plain location, one of them a write, about to happen at once, as a property of control.

use crate::certificate::Failure;
use crate::certificate::verify::Steps;
use crate::program::{
    BinaryOp, Edge, Expr, Op, Place, Program, Property, PropertyKind, PropertyWords, Situation, StateVar, Value,
};
use crate::source::Span;
use crate::util::Idx;

/// More pairs of accesses than this are not listed.
const MAX_PAIRS: usize = 50_000;

/// The program with nothing to violate but that no two accesses that conflict come at once.
///
/// # Errors
/// There is too much to look at.
pub(in crate::certificate) fn asked(program: &Program, steps: &mut Steps<'_>) -> Result<Program, Failure> {
    let plain = program.with_allocations().with_properties([]).with_assumed(&|_| true);
    let mut situations = Vec::new();
    for (i, a) in plain.edges().iter().enumerate() {
        let Some((of, writes)) = accessed(&plain, a) else { continue };
        for b in plain.edges().iter().skip(i + 1).filter(|b| b.process != a.process) {
            steps.step(0)?;
            let Some((other, also)) = accessed(&plain, b) else { continue };
            if !(writes || also) {
                continue;
            }
            let Some(condition) = is_one(&plain, (a, of), (b, other)) else { continue };
            let mut at = vec![(a.process, vec![a.from]), (b.process, vec![b.from])];
            at.sort();
            situations.push(Situation { at, condition });
        }
        if situations.len() > MAX_PAIRS {
            return Failure::refused("there are too many pairs of accesses to plain data");
        }
    }
    let (kind, text, words) = (PropertyKind::Race, String::new(), PropertyWords::default());
    Ok(plain.with_properties([Property { kind, situations, text, words, span: Span::default() }]))
}

/// The plain data that an edge loads or stores, and whether it stores. Blocks are one step, and wait for stores.
fn accessed<'p>(program: &Program, edge: &'p Edge) -> Option<(&'p Place, bool)> {
    let (place, writes) = match &edge.op {
        Op::Load(_, place) => (place, false),
        Op::Store(place, _) => (place, true),
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => return None,
        Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => return None,
    };
    program.is_plain(place).then_some((place, writes))
}

/// When two places are one location; `None` if they never are.
fn is_one(program: &Program, a: (&Edge, &Place), b: (&Edge, &Place)) -> Option<Expr<StateVar>> {
    match (array_and_index(program, a), array_and_index(program, b)) {
        (Some((array, i)), Some((other, j))) => (array == other).then(|| Expr::binary(BinaryOp::Eq, i, j)),
        // What is in no array is one location.
        (None, None) => (a.1 == b.1).then_some(Expr::TRUE),
        (Some(_), None) | (None, Some(_)) => None,
    }
}

/// The array that a place is in, and its index there.
fn array_and_index(program: &Program, (edge, place): (&Edge, &Place)) -> Option<(usize, Expr<StateVar>)> {
    match place {
        Place::Cell(array, index) => {
            let index = index.map(&mut |register| StateVar::Register(edge.process, *register));
            Some((array.index(), index))
        }
        Place::Fixed(x) => {
            let mut arrays = program.arrays().iter_enumerated();
            arrays.find_map(|(array, it)| {
                let cell = it.cells().position(|cell| cell == *x)?;
                Some((array.index(), Expr::Const(Value::try_from(cell).ok()?)))
            })
        }
    }
}
