//! Division by constants: `/`, `%` and the operators on bits, by quotients or by remainders.
//!
//! ```text
//!    (x + 1) % 256, x in 0..255    x + 1 ≤ 255: x + 1      x + 1 ≥ 256: x + 1 - 256          few quotients
//!    x % 2, x any integer          x ≡ 0: 0    x ≡ 1, x ≥ 0: 1    x ≡ 1, x ≤ -1: -1          few remainders
//!    x & 3                         x ≡ r (mod 4): r & 3                                       bits: remainders by 2ⁿ
//! ```
//!
//! Each is a case distinction that is exact. The first needs bounds on differences only. The second needs remainders,
//! which no bounds give, so that zones keep them ([`Zone::with_modulus`](crate::numeric::Zone::with_modulus)), all by
//! one number: the least that all divisors of the program divide ([`modulus`]). A remainder is a function of the
//! remainder of what was copied or added to, so it goes with a value through registers, store buffers and memory, and
//! nobody who copies values needs to know of it.
//!
//! `x / c` of many quotients is no variable plus a constant. It is left to [`scaled`](super::scaled).

use std::collections::BTreeSet;

use crate::engine::symbolic::difference::{Beyond, Case, Conjunction, Differences, MAX_SPLIT, Remainder, limited};
use crate::engine::symbolic::linear::Linear;
use crate::program::{BinaryOp, Expr, Micro, Op, Place, Program, RegisterId, RmwVar, StateVar, Value, gcd};

/// More quotients than this are not looked at one by one.
const MAX_QUOTIENTS: Value = 8;

/// Remainders by more than this are not kept.
const MAX_MODULUS: Value = 64;

impl<V: Copy + Ord> Differences<'_, V> {
    /// The cases of `left op right`; `None` if it is no such operator, or has too many.
    pub(super) fn divided(
        &self,
        when: &Conjunction<V>,
        left: &Linear<V>,
        op: BinaryOp,
        right: Value,
    ) -> Result<Option<Vec<Case<V>>>, Beyond> {
        let Some(by) = divisor(op, right) else { return Ok(None) };
        if let Some(quotients) = self.quotients(left, op, by) {
            return self.by_quotient(when, left, (op, right, by), quotients).map(Some);
        }
        if op == BinaryOp::Div || self.modulus % by != 0 {
            return Ok(None);
        }
        let mut cases = Vec::new();
        for (when, remainder) in self.by_remainder(when, left, by)? {
            cases.extend(self.of_remainder(&when, left, (op, right, by), remainder)?);
        }
        Ok(Some(cases))
    }

    /// The first and the last quotient of an expression by a divisor, if there are few.
    fn quotients(&self, left: &Linear<V>, op: BinaryOp, by: Value) -> Option<(Value, Value)> {
        let is_division = op == BinaryOp::Div || op == BinaryOp::Rem;
        let (lo, hi) = self.bounds(left).filter(|_| is_division)?;
        let (first, last) = (lo / by, hi / by);
        (last.checked_sub(first)? < MAX_QUOTIENTS).then_some((first, last))
    }

    /// The least and greatest value of an expression, if there are such.
    fn bounds(&self, of: &Linear<V>) -> Option<(Value, Value)> {
        of.coefficients.iter().try_fold((of.plus, of.plus), |(lo, hi), &(variable, factor)| {
            let (least, most) = (self.domain)(variable)?;
            let ends = (least.checked_mul(factor)?, most.checked_mul(factor)?);
            Some((lo.checked_add(ends.0.min(ends.1))?, hi.checked_add(ends.0.max(ends.1))?))
        })
    }

    /// `/` or `%`, for each quotient: that of the absolute value of the divisor.
    fn by_quotient(
        &self,
        when: &Conjunction<V>,
        left: &Linear<V>,
        (op, right, by): (BinaryOp, Value, Value),
        (first, last): (Value, Value),
    ) -> Result<Vec<Case<V>>, Beyond> {
        let mut cases = Vec::new();
        for quotient in first..=last {
            let product = quotient.checked_mul(by).ok_or(Beyond)?;
            let rest = left.plus(&Linear::constant(product), -1).ok_or(Beyond)?;
            // Division goes toward zero: what is left has the sign of what is divided.
            let least = if quotient <= 0 { 1 - by } else { 0 };
            let most = if quotient >= 0 { by - 1 } else { 0 };
            let value = if op == BinaryOp::Rem {
                rest.clone()
            } else {
                Linear::constant(quotient.checked_mul(right.signum()).ok_or(Beyond)?)
            };
            let over = rest.plus(&Linear::constant(most), -1).ok_or(Beyond)?;
            let under = rest.plus(&Linear::constant(least), -1).ok_or(Beyond)?;
            for when in self.compare(when.clone(), &over, BinaryOp::Le, true)? {
                let both = self.compare(when, &under, BinaryOp::Ge, true)?;
                cases.extend(both.into_iter().map(|when| (when, value.clone())));
            }
        }
        Ok(cases)
    }

    /// The remainder by a divisor, from 0 on, by the remainders of all variables by the modulus.
    fn by_remainder(
        &self,
        when: &Conjunction<V>,
        left: &Linear<V>,
        by: Value,
    ) -> Result<Vec<(Conjunction<V>, Value)>, Beyond> {
        let mut cases = vec![(when.clone(), left.plus.rem_euclid(by))];
        for &(variable, factor) in &left.coefficients {
            let mut more = Vec::new();
            for (when, sum) in cases {
                for remainder in 0..self.modulus {
                    let mut when = when.clone();
                    when.remainders.push(Remainder { variable, modulus: self.modulus, remainder });
                    more.push((when, (sum + factor.rem_euclid(by) * (remainder % by)).rem_euclid(by)));
                }
            }
            cases = limited(more)?;
        }
        Ok(cases)
    }

    /// The value of an operator where the dividend leaves this remainder, from 0 on.
    fn of_remainder(
        &self,
        when: &Conjunction<V>,
        left: &Linear<V>,
        (op, right, by): (BinaryOp, Value, Value),
        remainder: Value,
    ) -> Result<Vec<Case<V>>, Beyond> {
        let with = |change: Value| left.plus(&Linear::constant(change), 1).ok_or(Beyond);
        let only = |value: Linear<V>| Ok(vec![(when.clone(), value)]);
        match op {
            BinaryOp::BitAnd if right >= 0 => return only(Linear::constant(remainder & right)),
            BinaryOp::BitAnd => return only(with(-(remainder & !right))?),
            BinaryOp::BitOr => return only(with((remainder | right) - remainder)?),
            BinaryOp::BitXor => return only(with((remainder ^ right) - remainder)?),
            BinaryOp::Rem if remainder == 0 => return only(Linear::constant(0)),
            BinaryOp::Rem => {}
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Min | BinaryOp::Max => {
                return Err(Beyond);
            }
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                return Err(Beyond);
            }
            BinaryOp::And | BinaryOp::Or => return Err(Beyond),
        }
        let mut cases = Vec::new();
        for (is_negative, value) in [(false, remainder), (true, remainder - by)] {
            let signs = self.compare(when.clone(), left, BinaryOp::Lt, is_negative)?;
            cases.extend(signs.into_iter().map(|when| (when, Linear::constant(value))));
        }
        Ok(cases)
    }
}

/// What an operator with a constant on its right divides by; it is not below 1.
fn divisor(op: BinaryOp, right: Value) -> Option<Value> {
    let beyond = |mask: Value| {
        let power = u64::try_from(mask).ok()?.checked_add(1)?.checked_next_power_of_two()?;
        Value::try_from(power).ok()
    };
    match op {
        BinaryOp::Div | BinaryOp::Rem => right.checked_abs().filter(|&it| it != 0),
        BinaryOp::BitAnd if right < 0 => beyond(!right),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => beyond(right),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max => None,
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => None,
        BinaryOp::And | BinaryOp::Or => None,
    }
}

/// What the remainders of a program are by: the least number that its divisors divide, those left out that are too
/// large, or of which there are few quotients.
pub(crate) fn modulus(program: &Program) -> Value {
    let mut divisors = BTreeSet::new();
    for (_, edge) in program.edges().iter_enumerated() {
        let registers = &program.processes()[edge.process].registers;
        let mut of = Divisors { domain: &|it: &RegisterId| registers[*it].domain.bounds(), out: &mut divisors };
        of.add_op(program, &edge.op);
    }
    let domain = |it: &StateVar| match it {
        StateVar::Register(process, register) => program.processes()[*process].registers[*register].domain.bounds(),
        StateVar::Memory(x) => program.locations()[*x].domain.bounds(),
    };
    let mut of = Divisors { domain: &domain, out: &mut divisors };
    let situations = program.properties().iter().flat_map(|it| &it.situations);
    situations.map(|it| &it.condition).chain(program.hints()).for_each(|it| of.add(it));
    divisors.into_iter().fold(1, |modulus, divisor| {
        let both = modulus / gcd(modulus, divisor) * divisor;
        if both <= MAX_MODULUS { both } else { modulus }
    })
}

/// The least and the greatest value of a variable, if there are such.
type Domain<'a, V> = &'a dyn Fn(&V) -> Option<(Value, Value)>;

/// Finds the divisors in expressions over some variables.
struct Divisors<'a, V> {
    domain: Domain<'a, V>,
    out: &'a mut BTreeSet<Value>,
}

impl Divisors<'_, RegisterId> {
    fn add_op(&mut self, program: &Program, op: &Op) {
        match op {
            Op::Assume(it) | Op::Assert(it) | Op::Assign(_, it) => self.add(it),
            Op::Load(_, place) => self.add_place(place),
            Op::Store(place, it) => {
                self.add_place(place);
                self.add(it);
            }
            Op::Rmw { place, guard, write, .. } => {
                self.add_place(place);
                let old = program.locations_of(place).first().and_then(|&x| program.locations()[x].domain.bounds());
                let domain = |it: &RmwVar| match it {
                    RmwVar::Old => old,
                    RmwVar::Register(register) => (self.domain)(register),
                };
                let mut of = Divisors { domain: &domain, out: self.out };
                [Some(guard), write.as_ref()].into_iter().flatten().for_each(|it| of.add(it));
            }
            Op::Locked(body) => body.iter().for_each(|it| self.add_micro(it)),
            Op::Havoc(..) | Op::Fence(_) => {}
        }
    }

    fn add_micro(&mut self, micro: &Micro) {
        match micro {
            Micro::Assume(it) | Micro::Assert(it) | Micro::Assign(_, it) => self.add(it),
            Micro::Load(_, place) => self.add_place(place),
            Micro::Store(place, it) => {
                self.add_place(place);
                self.add(it);
            }
            Micro::Choose(branches) => branches.iter().flatten().for_each(|it| self.add_micro(it)),
            Micro::Havoc(..) => {}
        }
    }

    fn add_place(&mut self, place: &Place) {
        match place {
            Place::Fixed(_) => {}
            Place::Cell(_, index) => self.add(index),
        }
    }
}

impl<V> Divisors<'_, V> {
    fn add(&mut self, expr: &Expr<V>) {
        match expr {
            Expr::Const(_) | Expr::Var(_) => {}
            Expr::Unary(_, operand) => self.add(operand),
            Expr::Binary(op, left, right) => {
                self.add(left);
                self.add(right);
                let sides = [(left, right), (right, left)];
                for (divided, by) in sides.into_iter().take(if is_commutative(*op) { 2 } else { 1 }) {
                    if let Expr::Const(by) = **by
                        && let Some(by) = divisor(*op, by)
                        && !has_few_quotients(self.domain, divided, *op, by)
                    {
                        self.out.insert(by);
                    }
                }
            }
        }
    }
}

/// Whether a quotient is one of few, or what is divided has few values, so that it is looked at one by one.
pub(super) fn has_few_quotients<V>(domain: Domain<'_, V>, divided: &Expr<V>, op: BinaryOp, by: Value) -> bool {
    let Some((lo, hi)) = bounds(domain, divided) else { return false };
    let is_few = |n: Value, most: Value| (0..=most).contains(&n);
    let n_quotients = (hi / by.max(1)).saturating_sub(lo / by.max(1));
    is_few(hi.saturating_sub(lo), MAX_SPLIT) || !is_commutative(op) && is_few(n_quotients, MAX_QUOTIENTS - 1)
}

/// The least and greatest value of an expression, if there are such and it is simple.
fn bounds<V>(domain: Domain<'_, V>, expr: &Expr<V>) -> Option<(Value, Value)> {
    match expr {
        Expr::Const(value) => Some((*value, *value)),
        Expr::Var(variable) => domain(variable),
        Expr::Binary(BinaryOp::Add, left, right) => {
            let (left, right) = (bounds(domain, left)?, bounds(domain, right)?);
            Some((left.0.checked_add(right.0)?, left.1.checked_add(right.1)?))
        }
        Expr::Binary(BinaryOp::Sub, left, right) => {
            let (left, right) = (bounds(domain, left)?, bounds(domain, right)?);
            Some((left.0.checked_sub(right.1)?, left.1.checked_sub(right.0)?))
        }
        Expr::Unary(..) | Expr::Binary(..) => None,
    }
}

/// Whether an operator on bits may have its sides swapped.
pub(super) fn is_commutative(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor)
}
