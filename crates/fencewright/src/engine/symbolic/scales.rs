//! The scales of variables: by how much each is multiplied, so that quotients and products are variables plus
//! constants.
//!
//! An expression has a *unit*: the scale of a variable times a fraction. `x / c` has the unit of `x` times `c`, and the
//! product of `x` with `c` may have that of `x` by `c`; the sides of a sum, of a comparison and of an assignment have
//! the same; an index and a value that is picked have the unit 1. So scales are related by factors, and those of all
//! variables that are related to one are found by following them. Where two ways give different ones, or where one is
//! no integer though the unit 1 is among them, there are none.

use std::collections::{BTreeMap, VecDeque};

use crate::engine::symbolic::difference::MAX_SPLIT;
use crate::engine::symbolic::division::has_few_quotients;
use crate::program::{
    BinaryOp, Domain, Edge, Expr, Initial, LocationId, MAX_SCALE, Micro, Op, Place, ProcessId, Program, RegisterId,
    RmwVar, Scales, StateVar, UnaryOp, Value, gcd, lcm,
};

/// The scales of a program in which integers are divided, or multiplied if that counts; `None` if none are, or no
/// scales fit.
pub(super) fn scales(program: &Program, products: Products) -> Option<Scales> {
    let found = |products: Products| {
        let mut relations = Relations { program, products, equal: BTreeMap::new(), is_scaling: false };
        relations.relate_program();
        relations.is_scaling.then(|| relations.scales()).flatten()
    };
    match products {
        Products::Scaled => found(Products::Scaled).or_else(|| found(Products::Plain)),
        Products::Plain => found(Products::Plain),
    }
}

/// What becomes of products with constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Products {
    /// What is multiplied has the larger scale, so that the product is a variable.
    Scaled,
    /// They stay as they are.
    Plain,
}

/// A variable, or 1.
type Anchor = Option<StateVar>;

/// The scale of a variable, times a fraction.
type Unit = (Anchor, Ratio);

/// A positive fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ratio(Value, Value);

impl Ratio {
    const ONE: Self = Self(1, 1);

    fn times(self, n: Value, d: Value) -> Option<Self> {
        let (n, d) = (self.0.checked_mul(n)?, self.1.checked_mul(d)?);
        let divisor = gcd(n, d);
        Some(Self(n / divisor, d / divisor)).filter(|it| it.0 <= MAX_SCALE && it.1 <= MAX_SCALE)
    }
}

/// All cells of an array have one scale, that of the first.
fn representative(program: &Program, variable: StateVar) -> StateVar {
    let StateVar::Memory(x) = variable else { return variable };
    let array = program.arrays().iter().find(|it| it.cells().any(|cell| cell == x));
    StateVar::Memory(array.map_or(x, |it| it.first))
}

/// What something represents.
fn variables(program: &Program, representative: StateVar) -> Vec<StateVar> {
    let StateVar::Memory(x) = representative else { return vec![representative] };
    let array = program.arrays().iter().find(|it| it.first == x && it.len > 0);
    array.map_or_else(|| vec![representative], |it| it.cells().map(StateVar::Memory).collect())
}

/// How the scales of variables are related.
struct Relations<'a> {
    program: &'a Program,
    products: Products,
    /// With what each is related: its scale times a fraction is that of the other; `None` for one that is too large.
    equal: BTreeMap<Anchor, Vec<(Anchor, Option<Ratio>)>>,
    /// Whether there is a quotient, or a product that counts, that is not looked at value by value.
    is_scaling: bool,
}

impl Relations<'_> {
    /// The scales that keep to all relations, if there are such.
    fn scales(&self) -> Option<Scales> {
        let mut found: BTreeMap<Anchor, Ratio> = BTreeMap::new();
        let mut scales = Scales::new();
        // 1 comes first, as `None` does.
        for &first in self.equal.keys() {
            if found.contains_key(&first) {
                continue;
            }
            let component = self.component(first, &mut found)?;
            let common = component.iter().try_fold(1, |all, it| lcm(all, found[it].1))?;
            if first.is_none() && common != 1 {
                return None;
            }
            for it in component {
                let Ratio(n, d) = found[&it];
                let scale = n.checked_mul(common / d).filter(|it| *it <= MAX_SCALE)?;
                if let Some(it) = it.filter(|_| scale > 1) {
                    scales.extend(variables(self.program, it).into_iter().map(|it| (it, scale)));
                }
            }
        }
        Some(scales)
    }

    /// All that is related to something, each with its scale relative to it; `None` if there is none.
    fn component(&self, first: Anchor, found: &mut BTreeMap<Anchor, Ratio>) -> Option<Vec<Anchor>> {
        found.insert(first, Ratio::ONE);
        let (mut component, mut todo) = (vec![first], VecDeque::from([first]));
        while let Some(at) = todo.pop_front() {
            for &(next, factor) in &self.equal[&at] {
                let factor = factor?;
                let ratio = found[&at].times(factor.0, factor.1)?;
                match found.get(&next) {
                    Some(known) if *known != ratio => return None,
                    Some(_) => {}
                    None => {
                        found.insert(next, ratio);
                        component.push(next);
                        todo.push_back(next);
                    }
                }
            }
        }
        Some(component)
    }

    fn relate(&mut self, one: Unit, other: Option<Unit>) {
        let Some(other) = other else { return };
        let ((a, m), (b, n)) = (one, other);
        self.equal.entry(a).or_default().push((b, m.times(n.1, n.0)));
        self.equal.entry(b).or_default().push((a, n.times(m.1, m.0)));
    }

    /// Something is not scaled.
    fn fix(&mut self, unit: Option<Unit>) {
        self.relate((None, Ratio::ONE), unit);
    }

    fn unit(&self, variable: StateVar) -> Unit {
        (Some(representative(self.program, variable)), Ratio::ONE)
    }

    fn relate_program(&mut self) {
        for (x, location) in self.program.locations().iter_enumerated() {
            self.fix_unless_scalable(StateVar::Memory(x), location.domain, location.initial);
        }
        for (process, it) in self.program.processes().iter_enumerated() {
            for (register, it) in it.registers.iter_enumerated() {
                self.fix_unless_scalable(StateVar::Register(process, register), it.domain, it.initial);
            }
        }
        for edge in self.program.edges() {
            self.relate_edge(edge);
        }
        for situation in self.program.properties().iter().flat_map(|it| &it.situations) {
            self.expression(&situation.condition, &|it| *it);
        }
    }

    fn fix_unless_scalable(&mut self, variable: StateVar, domain: Domain, initial: Initial) {
        if domain == Domain::Bool || initial == Initial::Any {
            self.fix(Some(self.unit(variable)));
        }
    }

    fn relate_edge(&mut self, edge: &Edge) {
        let process = edge.process;
        match &edge.op {
            Op::Assume(it) | Op::Assert(it) => drop(self.of(process, it)),
            Op::Assign(register, it) => self.assign(process, *register, it),
            Op::Havoc(register, ..) => self.fix(Some(self.unit(StateVar::Register(process, *register)))),
            Op::Load(register, place) => self.load(process, *register, place),
            Op::Store(place, it) => self.store(process, place, it),
            Op::Rmw { place, guard, write, into } => {
                let old = self.place(process, place);
                let variable = |it: &RmwVar| match it {
                    RmwVar::Old => StateVar::Memory(old),
                    RmwVar::Register(register) => StateVar::Register(process, *register),
                };
                self.expression(guard, &variable);
                let written = write.as_ref().and_then(|it| self.expression(it, &variable));
                self.relate(self.unit(StateVar::Memory(old)), written);
                into.map(|register| self.load(process, register, place));
            }
            Op::Locked(body) => body.iter().for_each(|it| self.micro(process, it)),
            Op::Fence(_) => {}
        }
    }

    fn micro(&mut self, process: ProcessId, micro: &Micro) {
        match micro {
            Micro::Assume(it) | Micro::Assert(it) => drop(self.of(process, it)),
            Micro::Assign(register, it) => self.assign(process, *register, it),
            Micro::Havoc(register, ..) => self.fix(Some(self.unit(StateVar::Register(process, *register)))),
            Micro::Load(register, place) => self.load(process, *register, place),
            Micro::Store(place, it) => self.store(process, place, it),
            Micro::Choose(branches) => branches.iter().flatten().for_each(|it| self.micro(process, it)),
        }
    }

    fn of(&mut self, process: ProcessId, expr: &Expr<RegisterId>) -> Option<Unit> {
        self.expression(expr, &|it| StateVar::Register(process, *it))
    }

    fn assign(&mut self, process: ProcessId, register: RegisterId, value: &Expr<RegisterId>) {
        let value = self.of(process, value);
        self.relate(self.unit(StateVar::Register(process, register)), value);
    }

    fn load(&mut self, process: ProcessId, register: RegisterId, place: &Place) {
        let from = self.place(process, place);
        let from = self.unit(StateVar::Memory(from));
        self.relate(self.unit(StateVar::Register(process, register)), Some(from));
    }

    fn store(&mut self, process: ProcessId, place: &Place, value: &Expr<RegisterId>) {
        let to = self.place(process, place);
        let value = self.of(process, value);
        self.relate(self.unit(StateVar::Memory(to)), value);
    }

    /// One of the locations that a place stands for.
    fn place(&mut self, process: ProcessId, place: &Place) -> LocationId {
        match place {
            Place::Fixed(x) => *x,
            Place::Cell(array, index) => {
                let index = self.of(process, index);
                self.fix(index);
                self.program.arrays()[*array].first
            }
        }
    }

    /// The unit of an expression, if it has one: constants and conditions have any.
    fn expression<V>(&mut self, expr: &Expr<V>, variable: &impl Fn(&V) -> StateVar) -> Option<Unit> {
        match expr {
            Expr::Const(_) => None,
            Expr::Var(it) => Some(self.unit(variable(it))),
            Expr::Unary(UnaryOp::Neg, operand) => self.expression(operand, variable),
            Expr::Unary(UnaryOp::Not, operand) => {
                self.expression(operand, variable);
                None
            }
            Expr::Binary(op, left, right) => {
                let units = [self.expression(left, variable), self.expression(right, variable)];
                match op {
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Min | BinaryOp::Max => self.same(units),
                    BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                        self.same(units);
                        None
                    }
                    BinaryOp::And | BinaryOp::Or => None,
                    BinaryOp::Div => self.quotient((left, right), units, variable),
                    BinaryOp::Mul if units.iter().any(Option::is_none) => self.product((left, right), units, variable),
                    BinaryOp::Rem if units[1].is_none() => units[0],
                    BinaryOp::Mul | BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
                        units.into_iter().for_each(|it| self.fix(it));
                        None
                    }
                }
            }
        }
    }

    fn same(&mut self, [left, right]: [Option<Unit>; 2]) -> Option<Unit> {
        left.into_iter().for_each(|left| self.relate(left, right));
        left.or(right)
    }

    /// The product of something with a unit and something without.
    fn product<V>(
        &mut self,
        (left, right): (&Expr<V>, &Expr<V>),
        units: [Option<Unit>; 2],
        variable: &impl Fn(&V) -> StateVar,
    ) -> Option<Unit> {
        let (anchor, times) = units[0].or(units[1])?;
        let domain = |it: &V| domain(self.program, variable(it));
        match (left, right) {
            (Expr::Const(by), other) | (other, Expr::Const(by))
                if self.products == Products::Scaled && by.saturating_abs() > 1 && is_wide(&domain, other) =>
            {
                self.is_scaling = true;
                Some((anchor, times.times(1, by.saturating_abs()).unwrap_or(times)))
            }
            (Expr::Const(_), _) | (_, Expr::Const(_)) => Some((anchor, times)),
            _ => {
                self.fix(Some((anchor, times)));
                None
            }
        }
    }

    fn quotient<V>(
        &mut self,
        (left, right): (&Expr<V>, &Expr<V>),
        units: [Option<Unit>; 2],
        variable: &impl Fn(&V) -> StateVar,
    ) -> Option<Unit> {
        let domain = |it: &V| domain(self.program, variable(it));
        match (units[0], right) {
            (Some((anchor, times)), Expr::Const(by))
                if !has_few_quotients(&domain, left, BinaryOp::Div, by.saturating_abs()) && *by != 0 =>
            {
                self.is_scaling = true;
                Some((anchor, times.times(by.saturating_abs(), 1).unwrap_or(times)))
            }
            _ => {
                units.into_iter().for_each(|it| self.fix(it));
                None
            }
        }
    }
}

fn is_wide<V>(domain: &dyn Fn(&V) -> Option<(Value, Value)>, expr: &Expr<V>) -> bool {
    let mut is_wide = false;
    expr.for_each_var(&mut |it| is_wide |= domain(it).is_none_or(|(lo, hi)| hi.saturating_sub(lo) > MAX_SPLIT));
    is_wide
}

fn domain(program: &Program, variable: StateVar) -> Option<(Value, Value)> {
    match variable {
        StateVar::Register(process, register) => program.processes()[process].registers[register].domain.bounds(),
        StateVar::Memory(x) => program.locations()[x].domain.bounds(),
    }
}
