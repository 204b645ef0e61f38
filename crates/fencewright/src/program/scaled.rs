//! A program in other units: every variable is multiplied by a factor of its own.
//!
//! ```text
//!    v := x / 2;  assert(v <= w)        V := X - X % 2;  assert(V <= W)        where V = 2·v, W = 2·w, X = x
//! ```
//!
//! A quotient is no variable plus a constant, but `c · (x / c)` is: `x - x % c`, for division goes toward zero and what
//! is left has the sign of `x`. So if whatever the quotient is copied to, added to or compared with is multiplied by
//! `c`, the program says the same with `%` only. Edges, points and choices stay as they are: a run of the one program
//! is a run of the other, with other numbers in it, and a program is safe if and only if the other is.
//!
//! Both engines and the checker of certificates ask for this, with factors that the one finds and the other is told. So
//! nothing is taken for granted of factors: where they do not fit the program, there is none.

use std::collections::BTreeMap;

use super::{
    Array, BinaryOp, Domain, Edge, Expr, Initial, LocationId, Micro, Op, Place, Program, RegisterId, RmwVar, StateVar,
    UnaryOp, Value,
};

/// Larger factors are not worth it.
pub(crate) const MAX_SCALE: Value = 1 << 16;

/// By how much each variable is multiplied; those that are left out, by 1.
pub type Scales = BTreeMap<StateVar, Value>;

impl Program {
    /// The program with every variable multiplied; `None` where a factor does not fit, or numbers are too large.
    pub(crate) fn scaled(&self, scales: &Scales) -> Option<Self> {
        Scaling { program: self, scales }.scaled()
    }
}

/// A program, and by how much its variables are multiplied.
struct Scaling<'a> {
    program: &'a Program,
    scales: &'a Scales,
}

impl Scaling<'_> {
    fn of(&self, variable: StateVar) -> Value {
        self.scales.get(&variable).copied().unwrap_or(1)
    }

    /// The program with every variable multiplied.
    fn scaled(&self) -> Option<Program> {
        self.fits().then_some(())?;
        let mut locations = self.program.locations().clone();
        for x in self.program.locations().indices() {
            let it = &mut locations[x];
            (it.domain, it.initial) = multiplied(it.domain, it.initial, self.of(StateVar::Memory(x)))?;
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

    /// Whether the factors are those of variables of the program, and the cells of an array have the same.
    fn fits(&self) -> bool {
        let exists = |variable: &StateVar| match variable {
            StateVar::Memory(x) => self.program.locations().get(*x).is_some(),
            StateVar::Register(process, register) => {
                self.program.processes().get(*process).is_some_and(|it| it.registers.get(*register).is_some())
            }
        };
        let is_even = |array: &Array| {
            let mut scales = array.cells().map(|x| self.of(StateVar::Memory(x)));
            scales.next().is_none_or(|first| scales.all(|it| it == first))
        };
        self.scales.iter().all(|(variable, &scale)| exists(variable) && (2..=MAX_SCALE).contains(&scale))
            && self.program.arrays().iter().all(is_even)
    }

    fn op(&self, edge: &Edge) -> Option<Op> {
        let of = |it: &RegisterId| self.of(StateVar::Register(edge.process, *it));
        Some(match &edge.op {
            Op::Assume(it) => Op::Assume(condition(it, &of)?),
            Op::Assert(it) => Op::Assert(condition(it, &of)?),
            Op::Assign(register, it) => Op::Assign(*register, value(it, of(register), &of)?),
            Op::Load(register, from) => Op::Load(*register, self.loaded(from, of(register), &of)?),
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
                let at = self.loaded(at, into.as_ref().map_or(old, &of), &of)?;
                Op::Rmw { place: at, guard: condition(guard, &of_either)?, write, into: *into }
            }
            Op::Locked(body) => Op::Locked(self.block(body, &of)?),
            Op::Havoc(register, ..) => (of(register) == 1).then(|| edge.op.clone())?,
            Op::Fence(_) => edge.op.clone(),
        })
    }

    fn block(&self, body: &[Micro], of: &impl Fn(&RegisterId) -> Value) -> Option<Vec<Micro>> {
        let micro = |micro: &Micro| {
            Some(match micro {
                Micro::Assume(it) => Micro::Assume(condition(it, of)?),
                Micro::Assert(it) => Micro::Assert(condition(it, of)?),
                Micro::Assign(register, it) => Micro::Assign(*register, value(it, of(register), of)?),
                Micro::Load(register, from) => Micro::Load(*register, self.loaded(from, of(register), of)?),
                Micro::Store(to, it) => Micro::Store(place(to, of)?, value(it, self.of_place(to), of)?),
                Micro::Choose(branches) => {
                    Micro::Choose(branches.iter().map(|it| self.block(it, of)).collect::<Option<_>>()?)
                }
                Micro::Havoc(register, ..) => (of(register) == 1).then(|| micro.clone())?,
            })
        };
        body.iter().map(micro).collect()
    }

    /// A place whose value goes where this is the factor.
    fn loaded(&self, from: &Place, into: Value, of: &impl Fn(&RegisterId) -> Value) -> Option<Place> {
        (self.of_place(from) == into).then_some(())?;
        place(from, of)
    }

    fn of_place(&self, place: &Place) -> Value {
        let first: Option<LocationId> = self.program.locations_of(place).first().copied();
        first.map_or(1, |x| self.of(StateVar::Memory(x)))
    }
}

/// The values of a variable, each so many times; `None` if it may start with one that is not.
fn multiplied(domain: Domain, initial: Initial, by: Value) -> Option<(Domain, Initial)> {
    if by == 1 {
        return Some((domain, initial));
    }
    let domain = match domain {
        Domain::Range(lo, hi) => Domain::Range(lo.checked_mul(by)?, hi.checked_mul(by)?),
        Domain::Int => domain,
        Domain::Bool => return None,
    };
    match initial {
        Initial::Value(value) => Some((domain, Initial::Value(value.checked_mul(by)?))),
        Initial::Any => None,
    }
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
            (BinaryOp::Mul, other, Expr::Const(0)) | (BinaryOp::Mul, Expr::Const(0), other) => {
                // What is multiplied may go wrong.
                Some(Expr::binary(BinaryOp::Mul, Expr::Const(0), value(other, unit(other, of)?, of)?))
            }
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

/// The least number that both divide.
pub(crate) fn lcm(a: Value, b: Value) -> Option<Value> {
    (a / gcd(a, b)).checked_mul(b)
}

/// The greatest number that divides both.
pub(crate) fn gcd(a: Value, b: Value) -> Value {
    if b == 0 { a } else { gcd(b, a % b) }
}
