//! A way through a thread that changes nothing of memory: what registers hold by then, and what must hold for it to be
//! possible.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::symbolic::difference::Arithmetic;
use crate::engine::symbolic::situation::conditions;
use crate::numeric::{Bound, Zone};
use crate::program::{
    BinaryOp, Domain, Expr, LocationId, Op, Place, PointId, ProcessId, Program, RegisterId, RmwVar, StateVar, UnaryOp,
    Value,
};

/// All of these hold.
pub(super) type Condition = Vec<Expr<StateVar>>;

/// A way from a point.
#[derive(Clone, Debug)]
pub(super) struct Way<'a> {
    program: &'a Program,
    process: ProcessId,
    /// The points that it comes by, the first of them included.
    pub points: Vec<PointId>,
    /// Whether it reads memory.
    pub reads: bool,
    /// What must hold in the beginning.
    pub condition: Condition,
    /// What registers hold that were written.
    registers: BTreeMap<RegisterId, Expr<StateVar>>,
    /// Registers that were read before they were written.
    carried: BTreeSet<RegisterId>,
}

impl<'a> Way<'a> {
    pub(super) fn new(program: &'a Program, process: ProcessId, start: PointId) -> Self {
        let (points, condition) = (vec![start], Condition::new());
        let (registers, carried) = (BTreeMap::new(), BTreeSet::new());
        Self { program, process, points, reads: false, condition, registers, carried }
    }

    /// Whether it reads no register that it writes before it writes it.
    pub(super) fn is_clean(&self) -> bool {
        self.carried.iter().all(|register| !self.registers.contains_key(register))
    }

    /// Whether it may be possible: where not, differences say so.
    pub(super) fn is_possible(&self) -> bool {
        let all = self.condition.iter().cloned().reduce(|a, b| Expr::binary(BinaryOp::And, a, b));
        let told = all.map(|it| conditions(self.program, &it, Arithmetic::Linear));
        let Some(Ok(alternatives)) = told else { return true };
        let differences = || alternatives.iter().flat_map(|it| &it.differences);
        let variables: BTreeSet<StateVar> = differences().flat_map(|it| [it.left, it.right]).flatten().collect();
        let variables: Vec<StateVar> = variables.into_iter().collect();
        let number = |it: Option<StateVar>| it.map_or(0, |it| variables.partition_point(|known| *known < it) + 1);
        alternatives.iter().any(|it| {
            let mut zone = Zone::all(variables.len() + 1);
            it.differences.iter().all(|it| zone.add(number(it.left), number(it.right), Bound::at_most(it.bound)))
        })
    }

    /// One step further, in each way that it can be taken without changing memory; `None` where that cannot be said.
    pub(super) fn further(mut self, op: &Op) -> Option<Vec<Self>> {
        self.carried.extend(read_by(op).into_iter().filter(|it| !self.registers.contains_key(it)));
        Some(match op {
            Op::Assume(it) | Op::Assert(it) => self.where_it(it, true).into_iter().collect(),
            Op::Assign(to, it) => {
                let value = self.told(it);
                self.with(*to, value).into_iter().collect()
            }
            Op::Load(to, place) => {
                let found = |(way, x): (Self, LocationId)| way.reading().with(*to, Expr::Var(StateVar::Memory(x)));
                self.at(place).into_iter().filter_map(found).collect()
            }
            Op::Store(place, it) => {
                let is_there = |(way, x): (Self, LocationId)| {
                    let value = way.told(it);
                    way.where_all([holds(x, value)])
                };
                self.at(place).into_iter().filter_map(is_there).collect()
            }
            Op::Rmw { place, guard, write, into } => {
                let changes_nothing = |(way, x): (Self, LocationId)| {
                    let guard = way.told_of(guard, x);
                    let written = write.as_ref().map(|it| holds(x, way.told_of(it, x)));
                    let way = way.reading().where_all([guard].into_iter().chain(written))?;
                    match into {
                        Some(to) => way.with(*to, Expr::Var(StateVar::Memory(x))),
                        None => Some(way),
                    }
                };
                self.at(place).into_iter().filter_map(changes_nothing).collect()
            }
            Op::Fence(_) => vec![self],
            Op::Havoc(..) | Op::Locked(_) => return None,
        })
    }

    /// Where a step is not possible; `None` if it always is.
    pub(super) fn barred(self, op: &Op) -> Option<Vec<Self>> {
        match op {
            Op::Assume(it) => Some(self.where_it(it, false).into_iter().collect()),
            Op::Rmw { place, guard, .. } => {
                let fails = |(way, x): (Self, LocationId)| {
                    let guard = way.told_of(guard, x).negated();
                    way.where_all([guard])
                };
                Some(self.at(place).into_iter().filter_map(fails).collect())
            }
            Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Load(..) => None,
            Op::Store(..) | Op::Fence(_) | Op::Locked(_) => None,
        }
    }

    fn reading(mut self) -> Self {
        self.reads = true;
        self
    }

    /// The same where a condition holds, or does not.
    fn where_it(self, condition: &Expr<RegisterId>, is_so: bool) -> Option<Self> {
        let condition = self.told(condition);
        self.where_all([if is_so { condition } else { condition.negated() }])
    }

    /// The same where these hold, unless one never does.
    fn where_all(mut self, conditions: impl IntoIterator<Item = Expr<StateVar>>) -> Option<Self> {
        for condition in conditions {
            match condition {
                Expr::Const(0) => return None,
                Expr::Const(_) => {}
                it @ (Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..)) if !self.condition.contains(&it) => {
                    self.condition.push(it);
                }
                Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) => {}
            }
        }
        Some(self)
    }

    /// The same with a value in a register. One that it cannot hold is a matter of safety.
    fn with(mut self, register: RegisterId, value: Expr<StateVar>) -> Option<Self> {
        let domain = self.program.processes()[self.process].registers[register].domain;
        let is_loaded = |it: &Expr<StateVar>| match it {
            Expr::Var(StateVar::Memory(x)) => is_within(self.program.locations()[*x].domain, domain),
            Expr::Var(StateVar::Register(..)) | Expr::Const(_) | Expr::Unary(..) | Expr::Binary(..) => false,
        };
        let bounds = domain.bounds().filter(|_| !is_loaded(&value));
        self.registers.insert(register, value.clone());
        let bounds = bounds.map(|(lo, hi)| {
            [folded(BinaryOp::Ge, value.clone(), Expr::Const(lo)), folded(BinaryOp::Le, value, Expr::Const(hi))]
        });
        self.where_all(bounds.into_iter().flatten())
    }

    /// The locations that a place may be, each where it is.
    fn at(self, place: &Place) -> Vec<(Self, LocationId)> {
        match place {
            Place::Fixed(x) => vec![(self, *x)],
            Place::Cell(array, index) => {
                let index = self.told(index);
                let cells = self.program.arrays()[*array].cells().zip(0..);
                let here = |(x, number): (LocationId, Value)| {
                    let is_it = folded(BinaryOp::Eq, index.clone(), Expr::Const(number));
                    Some((self.clone().where_all([is_it])?, x))
                };
                cells.filter_map(here).collect()
            }
        }
    }

    /// What an expression is in terms of where the way began.
    fn told(&self, it: &Expr<RegisterId>) -> Expr<StateVar> {
        substituted(it, &|register| self.register(*register))
    }

    /// The same in an update of a location.
    fn told_of(&self, it: &Expr<RmwVar>, x: LocationId) -> Expr<StateVar> {
        substituted(it, &|variable| match variable {
            RmwVar::Old => Expr::Var(StateVar::Memory(x)),
            RmwVar::Register(register) => self.register(*register),
        })
    }

    fn register(&self, register: RegisterId) -> Expr<StateVar> {
        let first = || Expr::Var(StateVar::Register(self.process, register));
        self.registers.get(&register).cloned().unwrap_or_else(first)
    }
}

/// The registers that an operation reads.
fn read_by(op: &Op) -> BTreeSet<RegisterId> {
    let mut all = BTreeSet::new();
    let mut see = |it: &RegisterId| {
        all.insert(*it);
    };
    if let Op::Load(_, Place::Cell(_, index)) | Op::Store(Place::Cell(_, index), _) = op {
        index.for_each_var(&mut see);
    }
    match op {
        Op::Assume(it) | Op::Assert(it) | Op::Assign(_, it) | Op::Store(_, it) => it.for_each_var(&mut see),
        Op::Rmw { place, guard, write, .. } => {
            if let Place::Cell(_, index) = place {
                index.for_each_var(&mut see);
            }
            for it in [guard].into_iter().chain(write) {
                it.for_each_var(&mut |it| match it {
                    RmwVar::Register(it) => see(it),
                    RmwVar::Old => {}
                });
            }
        }
        Op::Havoc(..) | Op::Load(..) | Op::Fence(_) | Op::Locked(_) => {}
    }
    all
}

/// Whether a location holds this already.
fn holds(x: LocationId, value: Expr<StateVar>) -> Expr<StateVar> {
    folded(BinaryOp::Eq, Expr::Var(StateVar::Memory(x)), value)
}

fn is_within(inner: Domain, outer: Domain) -> bool {
    match (inner.bounds(), outer.bounds()) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(inner), Some(outer)) => outer.0 <= inner.0 && inner.1 <= outer.1,
    }
}

/// The same expression with others for its variables.
fn substituted<V>(it: &Expr<V>, value: &dyn Fn(&V) -> Expr<StateVar>) -> Expr<StateVar> {
    match it {
        Expr::Const(it) => Expr::Const(*it),
        Expr::Var(variable) => value(variable),
        Expr::Unary(UnaryOp::Not, operand) => substituted(operand, value).negated(),
        Expr::Unary(op, operand) => match substituted(operand, value) {
            Expr::Const(it) => op.apply(it).map_or_else(|_| Expr::unary(*op, Expr::Const(it)), Expr::Const),
            operand @ (Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..)) => Expr::unary(*op, operand),
        },
        Expr::Binary(op, left, right) => folded(*op, substituted(left, value), substituted(right, value)),
    }
}

/// An operator applied, at once where that can be done.
fn folded(op: BinaryOp, left: Expr<StateVar>, right: Expr<StateVar>) -> Expr<StateVar> {
    match (op, &left, &right) {
        (BinaryOp::And, Expr::Const(0), _) | (BinaryOp::And, _, Expr::Const(0)) => Expr::Const(0),
        (BinaryOp::Or, Expr::Const(0), it) | (BinaryOp::Or, it, Expr::Const(0)) if is_truth(it) => it.clone(),
        (BinaryOp::And, Expr::Const(1), it) | (BinaryOp::And, it, Expr::Const(1)) if is_truth(it) => it.clone(),
        (_, Expr::Const(a), Expr::Const(b)) => {
            op.apply(*a, *b).map_or_else(|_| Expr::binary(op, left.clone(), right.clone()), Expr::Const)
        }
        (BinaryOp::Eq | BinaryOp::Le | BinaryOp::Ge, a, b) if a == b => Expr::TRUE,
        (BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Gt, a, b) if a == b => Expr::Const(0),
        _ => Expr::binary(op, left, right),
    }
}

/// Whether it is 0 or 1.
fn is_truth(it: &Expr<StateVar>) -> bool {
    match it {
        Expr::Const(it) => (0..=1).contains(it),
        Expr::Unary(op, _) => *op == UnaryOp::Not,
        Expr::Binary(op, ..) => op.is_boolean(),
        Expr::Var(_) => false,
    }
}
