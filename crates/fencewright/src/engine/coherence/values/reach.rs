//! How far from 0 integers are kept as they are.

use crate::program::{Domain, Expr, Initial, Micro, Op, Place, ProcessId, Program, RegisterId, Value};

/// Constants beyond this are cut off, too.
const MAX_REACH: Value = 64;

/// Up to the constants of the program, if those are small.
pub fn reach(program: &Program) -> Value {
    let mut greatest = 0;
    let mut see = |value: Value| greatest = value.checked_abs().unwrap_or(Value::MAX).min(MAX_REACH).max(greatest);
    for location in program.locations() {
        if let Initial::Value(value) = location.initial {
            see(value);
        }
    }
    for edge in program.edges() {
        match &edge.op {
            Op::Assume(it) | Op::Assert(it) | Op::Assign(_, it) | Op::Store(_, it) => constants(it, &mut see),
            Op::Rmw { guard, write, .. } => std::iter::once(guard).chain(write).for_each(|it| constants(it, &mut see)),
            Op::Locked(body) => body.iter().for_each(|micro| micro_constants(micro, &mut see)),
            Op::Havoc(..) | Op::Load(..) | Op::Fence(_) => {}
        }
    }
    let situations = program.properties().iter().flat_map(|property| &property.situations);
    situations.for_each(|situation| constants(&situation.condition, &mut see));
    greatest.max(least(program))
}

/// No less than this, so that what is copied between an `int` and something finite is itself: the bounds of locations,
/// of registers that get what an `int` location holds, and the lengths of arrays.
pub fn least(program: &Program) -> Value {
    let bound = |domain: Domain| domain.bounds().map_or(0, |(lo, hi)| lo.saturating_abs().max(hi.saturating_abs()));
    let locations = program.locations().iter().map(|location| bound(location.domain));
    let arrays = program.arrays().iter().map(|array| Value::from(array.len));
    let of_register =
        |process: ProcessId, register: RegisterId| bound(program.processes()[process].registers[register].domain);
    let mut least = locations.chain(arrays).max().unwrap_or(0);
    for edge in program.edges() {
        let mut load = |register: RegisterId, place: &Place| {
            if program.locations()[program.locations_of(place)[0]].domain == Domain::Int {
                least = least.max(of_register(edge.process, register));
            }
        };
        match &edge.op {
            Op::Load(register, place) | Op::Rmw { place, into: Some(register), .. } => load(*register, place),
            Op::Locked(body) => micro_loads(body, &mut load),
            Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => {}
            Op::Store(..) | Op::Rmw { into: None, .. } | Op::Fence(_) => {}
        }
    }
    least
}

fn micro_loads(body: &[Micro], load: &mut impl FnMut(RegisterId, &Place)) {
    for micro in body {
        match micro {
            Micro::Load(register, place) => load(*register, place),
            Micro::Choose(branches) => branches.iter().for_each(|branch| micro_loads(branch, load)),
            Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) | Micro::Store(..) => {}
        }
    }
}

fn micro_constants(micro: &Micro, see: &mut impl FnMut(Value)) {
    match micro {
        Micro::Assume(it) | Micro::Assert(it) | Micro::Assign(_, it) | Micro::Store(_, it) => constants(it, see),
        Micro::Choose(branches) => branches.iter().flatten().for_each(|micro| micro_constants(micro, see)),
        Micro::Havoc(..) | Micro::Load(..) => {}
    }
}

fn constants<V>(expr: &Expr<V>, see: &mut impl FnMut(Value)) {
    match expr {
        Expr::Const(value) => see(*value),
        Expr::Var(_) => {}
        Expr::Unary(_, operand) => constants(operand, see),
        Expr::Binary(_, left, right) => {
            constants(left, see);
            constants(right, see);
        }
    }
}
