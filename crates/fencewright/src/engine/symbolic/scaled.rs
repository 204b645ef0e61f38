//! Quotients by change of scale: `x / c` where the result is counted in units of `1 / c`.
//!
//! ```text
//!    v := x / 2;  assert(v <= w)        V := X - X % 2;  assert(V <= W)        where V = 2·v, W = 2·w, X = x
//! ```
//!
//! (Products the other way round: `seq := 2 * k` is `seq := K` where K = 2·k.)
//!
//! A quotient is no variable plus a constant, but `c · (x / c)` is: `x - x % c`, for division goes toward zero and what
//! is left has the sign of `x`. So whatever the quotient is copied to, added to or compared with is multiplied by `c`,
//! everywhere ([`scales`](super::scales)), and the program says the same with `%` only, which
//! [`division`](super::division) takes. Edges, points and choices stay as they are: a run of the one program is a run
//! of the other, with other numbers in it, and a program is safe if and only if the other is.
//!
//! Where no scales fit (`x = x / 2;`, `a[x / 2]`, `any` for something scaled), the program is left as it is, and
//! whoever wants differences refuses it.

use crate::engine::run::confirmed;
use crate::engine::symbolic::difference::Arithmetic;
use crate::engine::symbolic::division::{gcd, modulus};
use crate::engine::symbolic::scales::{Products, Scales, lcm};
use crate::engine::{Answer, Task, Unsupported, Verdict};
use crate::program::{
    BinaryOp, Domain, Edge, Expr, Initial, LocationId, Micro, Op, Place, Program, RegisterId, RmwVar, StateVar,
    UnaryOp, Value,
};
use crate::system::{Fault, Trace, Violation};
use crate::util::Idx;

/// Answers a question about a program that divides integers by one about another that does not.
pub(crate) fn rescaled(
    (task, arithmetic): (&Task<'_>, Arithmetic),
    check: impl FnOnce(&Task<'_>) -> Result<Answer, Unsupported>,
) -> Result<Answer, Unsupported> {
    // Who takes linear values needs no scales for products, but remainders are of variables.
    let products = match arithmetic {
        Arithmetic::Linear if modulus(task.program) == 1 => Products::Plain,
        Arithmetic::Linear | Arithmetic::Differences => Products::Scaled,
    };
    let scaling = Scales::of(task.program, products).map(|scales| Scaling { program: task.program, scales });
    let scaled = scaling.and_then(|scaling| Some((scaling.scaled()?, scaling)));
    let Some((program, scaling)) = scaled else { return check(task) };
    let mut answer = check(&Task { program: &program, ..*task })?;
    if let Verdict::Unsafe(run) = answer.verdict {
        answer.verdict = match confirmed(task, &scaling.back(run.trace)) {
            Ok(run) => Verdict::Unsafe(Box::new(run)),
            Err(reason) => Verdict::Unknown(reason),
        };
    }
    Ok(answer)
}

/// A program, and by how much its variables are multiplied.
struct Scaling<'a> {
    program: &'a Program,
    scales: Scales,
}

impl Scaling<'_> {
    fn of(&self, variable: StateVar) -> Value {
        self.scales.of_variable(self.program, variable)
    }

    /// The program with every variable multiplied; `None` where numbers are too large.
    fn scaled(&self) -> Option<Program> {
        let mut locations = self.program.locations().clone();
        for x in self.program.locations().indices() {
            let (domain, initial) = (locations[x].domain, locations[x].initial);
            (locations[x].domain, locations[x].initial) = multiplied(domain, initial, self.of(StateVar::Memory(x)))?;
        }
        let mut processes = self.program.processes().clone();
        for process in self.program.processes().indices() {
            for register in self.program.processes()[process].registers.indices() {
                let it = &mut processes[process].registers[register];
                let scale = self.of(StateVar::Register(process, register));
                (it.domain, it.initial) = multiplied(it.domain, it.initial, scale)?;
            }
        }
        let ops = self.program.edges().iter().map(|edge| self.op(edge)).collect::<Option<Vec<Op>>>()?;
        let of = |it: &StateVar| self.of(*it);
        let mut properties = self.program.properties().clone();
        for situation in properties.iter_mut().flat_map(|it| &mut it.situations) {
            situation.condition = condition(&situation.condition, &of)?;
        }
        let hints = self.program.hints().iter().filter_map(|it| condition(it, &of)).collect();
        Some(self.program.with_data((locations, processes), ops, properties, hints))
    }

    /// A run of the scaled program as one of the program.
    fn back(&self, mut trace: Trace) -> Trace {
        for x in self.program.locations().indices() {
            trace.start.memory[x] /= self.of(StateVar::Memory(x));
        }
        for process in self.program.processes().indices() {
            for (at, value) in trace.start.registers[process].iter_mut().enumerate() {
                *value /= self.of(StateVar::Register(process, RegisterId::from_usize(at)));
            }
        }
        if let Violation::Fault(fault) = &mut trace.violation {
            let process = self.program.edges()[fault.edge()].process;
            match fault {
                Fault::LocationRange(_, x, value) => *value /= self.of(StateVar::Memory(*x)),
                Fault::RegisterRange(_, it, value) => *value /= self.of(StateVar::Register(process, *it)),
                Fault::Assertion(_) | Fault::Index(..) | Fault::DivisionByZero(_) => {}
            }
        }
        trace
    }

    fn op(&self, edge: &Edge) -> Option<Op> {
        let of = |it: &RegisterId| self.of(StateVar::Register(edge.process, *it));
        Some(match &edge.op {
            Op::Assume(it) => Op::Assume(condition(it, &of)?),
            Op::Assert(it) => Op::Assert(condition(it, &of)?),
            Op::Assign(register, it) => Op::Assign(*register, value(it, of(register), &of)?),
            Op::Load(register, from) => Op::Load(*register, place(from, &of)?),
            Op::Store(to, it) => Op::Store(place(to, &of)?, value(it, self.of_place(to), &of)?),
            Op::Rmw { place: at, guard, write, into } => {
                let old = self.of_place(at);
                let of_either = |it: &RmwVar| match it {
                    RmwVar::Old => old,
                    RmwVar::Register(register) => of(register),
                };
                let write = match write {
                    Some(write) => Some(value(write, old, &of_either)?),
                    None => None,
                };
                Op::Rmw { place: place(at, &of)?, guard: condition(guard, &of_either)?, write, into: *into }
            }
            Op::Locked(body) => Op::Locked(self.block(body, &of)?),
            Op::Havoc(..) | Op::Fence(_) => edge.op.clone(),
        })
    }

    fn block(&self, body: &[Micro], of: &impl Fn(&RegisterId) -> Value) -> Option<Vec<Micro>> {
        let micro = |micro: &Micro| {
            Some(match micro {
                Micro::Assume(it) => Micro::Assume(condition(it, of)?),
                Micro::Assert(it) => Micro::Assert(condition(it, of)?),
                Micro::Assign(register, it) => Micro::Assign(*register, value(it, of(register), of)?),
                Micro::Load(register, from) => Micro::Load(*register, place(from, of)?),
                Micro::Store(to, it) => Micro::Store(place(to, of)?, value(it, self.of_place(to), of)?),
                Micro::Choose(branches) => {
                    Micro::Choose(branches.iter().map(|it| self.block(it, of)).collect::<Option<_>>()?)
                }
                Micro::Havoc(..) => micro.clone(),
            })
        };
        body.iter().map(micro).collect()
    }

    fn of_place(&self, place: &Place) -> Value {
        let first: Option<LocationId> = self.program.locations_of(place).first().copied();
        first.map_or(1, |x| self.of(StateVar::Memory(x)))
    }
}

/// The values of a variable, each so many times.
fn multiplied(domain: Domain, initial: Initial, by: Value) -> Option<(Domain, Initial)> {
    let domain = match domain {
        Domain::Range(lo, hi) => Domain::Range(lo.checked_mul(by)?, hi.checked_mul(by)?),
        Domain::Bool | Domain::Int => domain,
    };
    let initial = match initial {
        Initial::Value(value) => Initial::Value(value.checked_mul(by)?),
        Initial::Any => Initial::Any,
    };
    Some((domain, initial))
}

fn place(place: &Place, of: &impl Fn(&RegisterId) -> Value) -> Option<Place> {
    match place {
        Place::Fixed(_) => Some(place.clone()),
        Place::Cell(array, index) => Some(Place::Cell(*array, value(index, 1, of)?)),
    }
}

/// `times · e`, over scaled variables; `None` if that is not an integer for all values, or does not fit.
fn value<V: Clone>(expr: &Expr<V>, times: Value, of: &impl Fn(&V) -> Value) -> Option<Expr<V>> {
    let so_often = |expr: Expr<V>| match times {
        1 => expr,
        _ => Expr::binary(BinaryOp::Mul, Expr::Const(times), expr),
    };
    match expr {
        Expr::Const(constant) => Some(Expr::Const(constant.checked_mul(times)?)),
        Expr::Var(variable) => match times / of(variable) {
            1 if times == of(variable) => Some(expr.clone()),
            more if more * of(variable) == times => Some(Expr::binary(BinaryOp::Mul, Expr::Const(more), expr.clone())),
            _ => None,
        },
        Expr::Unary(UnaryOp::Neg, operand) => Some(Expr::unary(UnaryOp::Neg, value(operand, times, of)?)),
        Expr::Unary(UnaryOp::Not, _) => Some(so_often(condition(expr, of)?)),
        Expr::Binary(op, left, right) => match (op, &**left, &**right) {
            (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Min | BinaryOp::Max, ..) => {
                Some(Expr::binary(*op, value(left, times, of)?, value(right, times, of)?))
            }
            (BinaryOp::Mul, _, Expr::Const(0)) | (BinaryOp::Mul, Expr::Const(0), _) => Some(Expr::Const(0)),
            (BinaryOp::Mul, other, Expr::Const(by)) | (BinaryOp::Mul, Expr::Const(by), other) => {
                let product = value(other, times.checked_mul(by.checked_abs()?)?, of)?;
                Some(if *by > 0 { product } else { Expr::unary(UnaryOp::Neg, product) })
            }
            (BinaryOp::Rem, _, Expr::Const(by)) => {
                let by = by.checked_mul(times)?;
                Some(Expr::binary(*op, value(left, times, of)?, Expr::Const(by)))
            }
            (BinaryOp::Div, _, Expr::Const(by)) if *by != 0 && times % by.checked_abs()? == 0 => {
                // times · (a / by) = A - A % times, where A is times / |by| · a
                let divided = value(left, times / by.checked_abs()?, of)?;
                let rest = Expr::binary(BinaryOp::Rem, divided.clone(), Expr::Const(times));
                let product = Expr::binary(BinaryOp::Sub, divided, rest);
                Some(if *by > 0 { product } else { Expr::unary(UnaryOp::Neg, product) })
            }
            _ if op.is_boolean() => Some(so_often(condition(expr, of)?)),
            _ => is_plain(expr, of).then(|| so_often(expr.clone())),
        },
    }
}

/// A condition over scaled variables.
fn condition<V: Clone>(expr: &Expr<V>, of: &impl Fn(&V) -> Value) -> Option<Expr<V>> {
    match expr {
        Expr::Unary(UnaryOp::Not, operand) => Some(Expr::unary(UnaryOp::Not, condition(operand, of)?)),
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
            Some(Expr::binary(*op, condition(left, of)?, condition(right, of)?))
        }
        Expr::Binary(op, left, right) if op.is_boolean() => {
            let times = lcm(unit(left, of)?, unit(right, of)?)?;
            Some(Expr::binary(*op, value(left, times, of)?, value(right, times, of)?))
        }
        // What is not zero is not zero so many times either.
        Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) => value(expr, unit(expr, of)?, of),
    }
}

/// The least number of times that an expression can be had over scaled variables.
fn unit<V>(expr: &Expr<V>, of: &impl Fn(&V) -> Value) -> Option<Value> {
    match expr {
        Expr::Const(_) | Expr::Unary(UnaryOp::Not, _) => Some(1),
        Expr::Var(variable) => Some(of(variable)),
        Expr::Unary(UnaryOp::Neg, operand) => unit(operand, of),
        Expr::Binary(op, left, right) => match (op, &**left, &**right) {
            (BinaryOp::Div, _, Expr::Const(by)) => unit(left, of)?.checked_mul(by.checked_abs()?.max(1)),
            (BinaryOp::Rem, _, Expr::Const(_)) => unit(left, of),
            (BinaryOp::Mul, other, Expr::Const(by)) | (BinaryOp::Mul, Expr::Const(by), other) => {
                let unit = unit(other, of)?;
                Some(unit / gcd(unit, by.checked_abs()?))
            }
            _ if op.is_boolean() => Some(1),
            _ => lcm(unit(left, of)?, unit(right, of)?),
        },
    }
}

/// Whether no variable of an expression is scaled.
fn is_plain<V>(expr: &Expr<V>, of: &impl Fn(&V) -> Value) -> bool {
    let mut is_plain = true;
    expr.for_each_var(&mut |it| is_plain &= of(it) == 1);
    is_plain
}
