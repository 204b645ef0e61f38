//! Which variables are kept exactly, and which are numbers that a domain describes.

use std::collections::BTreeSet;

use crate::index_type;
use crate::numeric::Thresholds;
use crate::program::{
    Domain, Expr, Initial, LocationId, Micro, Op, Place, ProcessId, Program, RegisterId, StateVar, Value,
};
use crate::translate::Translated;
use crate::util::{Idx, IndexVec};

index_type!(
    /// A location or a register.
    pub(crate) Variable
);

/// A variable with more values than this is a number.
const FEW_VALUES: u64 = 16;

/// How a variable is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// By its value.
    Exact,
    /// As this variable of the domain.
    Number(usize),
}

/// What there is to know of a variable.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub name: String,
    pub kind: Kind,
    pub domain: Domain,
    pub initial: Initial,
    /// Whether it is part of a store buffer, and not of the original program.
    pub is_made: bool,
}

/// The variables of a program.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub variables: IndexVec<Variable, Known>,
    /// For each process, how many variables come before its registers.
    first: IndexVec<ProcessId, usize>,
    /// How many variables are numbers.
    pub n_numbers: usize,
}

impl Layout {
    pub(super) fn new(translated: &Translated) -> Self {
        let mut layout = Self { variables: IndexVec::new(), first: IndexVec::new(), n_numbers: 0 };
        for location in translated.program.locations() {
            layout.add(location.name.clone(), location.domain, location.initial, false);
        }
        for (id, process) in translated.program.processes().iter_enumerated() {
            layout.first.push(layout.variables.len());
            for (register, known) in process.registers.iter_enumerated() {
                let is_made = translated.roles[id].iter().any(|it| it.0 == register);
                layout.add(format!("{}.{}", process.name, known.name), known.domain, known.initial, is_made);
            }
        }
        layout
    }

    fn add(&mut self, name: String, domain: Domain, initial: Initial, is_made: bool) {
        let is_small = domain.size().is_some_and(|size| size <= FEW_VALUES);
        self.n_numbers += usize::from(!is_small);
        let kind = if is_small { Kind::Exact } else { Kind::Number(self.n_numbers) };
        self.variables.push(Known { name, kind, domain, initial, is_made });
    }

    pub(super) fn location(&self, x: LocationId) -> Variable {
        Variable::from_usize(x.index())
    }

    pub(super) fn register(&self, process: ProcessId, register: RegisterId) -> Variable {
        Variable::from_usize(self.first[process] + register.index())
    }

    pub(super) fn state_variable(&self, variable: StateVar) -> Variable {
        match variable {
            StateVar::Register(process, register) => self.register(process, register),
            StateVar::Memory(x) => self.location(x),
        }
    }

    /// How many variables the domain has: the constant 0, the numbers, and one to spare.
    pub(super) fn n_dimensions(&self) -> usize {
        self.n_numbers + 2
    }

    /// The variable of the domain that is to spare.
    pub(super) fn spare(&self) -> usize {
        self.n_numbers + 1
    }

    /// What there is to know of a variable of the domain; nothing of the one to spare.
    pub(super) fn known(&self, dimension: usize) -> Option<&Known> {
        self.variables.iter().find(|it| it.kind == Kind::Number(dimension))
    }
}

/// Where widening stops first: at the constants of a program.
pub(super) fn thresholds(program: &Program) -> Thresholds {
    let mut constants = BTreeSet::from([0]);
    for edge in program.edges() {
        of_op(&edge.op, &mut constants);
    }
    for situation in program.properties().iter().flat_map(|it| &it.situations) {
        of_expr(&situation.condition, &mut constants);
    }
    let domains = program.locations().iter().map(|it| (it.domain, it.initial));
    let registers = program.processes().iter().flat_map(|it| it.registers.iter().map(|it| (it.domain, it.initial)));
    for (domain, initial) in domains.chain(registers) {
        constants.extend(domain.bounds().into_iter().flat_map(|(lo, hi)| [lo, hi]));
        match initial {
            Initial::Value(value) => drop(constants.insert(value)),
            Initial::Any => {}
        }
    }
    Thresholds::around(constants)
}

fn of_op(op: &Op, out: &mut BTreeSet<Value>) {
    match op {
        Op::Assume(expr) | Op::Assert(expr) | Op::Assign(_, expr) => of_expr(expr, out),
        Op::Havoc(_, lo, hi) => out.extend([*lo, *hi]),
        Op::Load(_, place) => of_place(place, out),
        Op::Store(place, expr) => {
            of_place(place, out);
            of_expr(expr, out);
        }
        Op::Rmw { guard, .. } => of_expr(guard, out),
        Op::Fence(_) => {}
        Op::Locked(body) => body.iter().for_each(|micro| of_micro(micro, out)),
    }
}

fn of_micro(micro: &Micro, out: &mut BTreeSet<Value>) {
    match micro {
        Micro::Assume(expr) | Micro::Assert(expr) | Micro::Assign(_, expr) => of_expr(expr, out),
        Micro::Havoc(_, lo, hi) => out.extend([*lo, *hi]),
        Micro::Load(_, place) => of_place(place, out),
        Micro::Store(place, expr) => {
            of_place(place, out);
            of_expr(expr, out);
        }
        Micro::Choose(branches) => branches.iter().flatten().for_each(|micro| of_micro(micro, out)),
    }
}

fn of_place(place: &Place, out: &mut BTreeSet<Value>) {
    match place {
        Place::Fixed(_) => {}
        Place::Cell(_, index) => of_expr(index, out),
    }
}

fn of_expr<V>(expr: &Expr<V>, out: &mut BTreeSet<Value>) {
    match expr {
        Expr::Const(value) => drop(out.insert(*value)),
        Expr::Var(_) => {}
        Expr::Unary(_, operand) => of_expr(operand, out),
        Expr::Binary(_, left, right) => {
            of_expr(left, out);
            of_expr(right, out);
        }
    }
}
