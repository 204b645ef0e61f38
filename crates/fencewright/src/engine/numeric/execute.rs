//! What an operation does to a set of states, as `system::execute` has it for one state under SC.

use crate::engine::numeric::evaluate::{Cell, Evaluator, Found, Trouble};
use crate::engine::numeric::layout::{Kind, Variable};
use crate::numeric::{Domain, Linear, Range};
use crate::program::{Expr, LocationId, Micro, Op, Place, ProcessId, Program, RegisterId, Value};

/// Executes the operations of a process.
pub(super) struct Executor<'a> {
    pub program: &'a Program,
    pub process: ProcessId,
    pub evaluator: Evaluator<'a>,
}

impl Executor<'_> {
    /// The states after an operation.
    pub(super) fn run<D: Domain>(&mut self, op: &Op, cell: Cell<D>) -> Vec<Cell<D>> {
        match op {
            Op::Assume(condition) => self.assume(cell, condition),
            Op::Assert(condition) => self.assert(cell, condition),
            Op::Assign(register, value) => self.assign(cell, *register, value),
            Op::Havoc(register, lo, hi) => self.pick(&cell, *register, *lo, *hi),
            Op::Load(register, place) => self.load(cell, *register, place),
            Op::Store(place, value) => self.store(cell, place, value),
            Op::Locked(body) => self.block(body, cell),
            Op::Rmw { .. } | Op::Fence(_) => unreachable!("updates and fences of a translated program are blocks"),
        }
    }

    fn block<D: Domain>(&mut self, body: &[Micro], cell: Cell<D>) -> Vec<Cell<D>> {
        let mut cells = vec![cell];
        for micro in body {
            cells = cells.into_iter().flat_map(|cell| self.micro(micro, cell)).collect();
        }
        cells
    }

    fn micro<D: Domain>(&mut self, micro: &Micro, cell: Cell<D>) -> Vec<Cell<D>> {
        match micro {
            Micro::Assume(condition) => self.assume(cell, condition),
            Micro::Assert(condition) => self.assert(cell, condition),
            Micro::Assign(register, value) => self.assign(cell, *register, value),
            Micro::Havoc(register, lo, hi) => self.pick(&cell, *register, *lo, *hi),
            Micro::Load(register, place) => self.load(cell, *register, place),
            Micro::Store(place, value) => self.store(cell, place, value),
            Micro::Choose(branches) => branches.iter().flat_map(|branch| self.block(branch, cell.clone())).collect(),
        }
    }

    fn register(&self, register: RegisterId) -> Variable {
        self.evaluator.layout.register(self.process, register)
    }

    fn cases<D: Domain>(&mut self, cell: Cell<D>, expr: &Expr<RegisterId>) -> Vec<(Cell<D>, Found)> {
        let (layout, process) = (self.evaluator.layout, self.process);
        self.evaluator.cases(cell, expr, &|register| layout.register(process, *register))
    }

    fn assume<D: Domain>(&mut self, cell: Cell<D>, condition: &Expr<RegisterId>) -> Vec<Cell<D>> {
        let (layout, process) = (self.evaluator.layout, self.process);
        self.evaluator.split(cell, condition, &|register| layout.register(process, *register)).yes
    }

    fn assert<D: Domain>(&mut self, cell: Cell<D>, condition: &Expr<RegisterId>) -> Vec<Cell<D>> {
        let (layout, process) = (self.evaluator.layout, self.process);
        let split = self.evaluator.split(cell, condition, &|register| layout.register(process, *register));
        if !split.no.is_empty() {
            self.evaluator.troubles.push(Trouble::Assertion);
        }
        split.yes
    }

    fn assign<D: Domain>(&mut self, cell: Cell<D>, register: RegisterId, value: &Expr<RegisterId>) -> Vec<Cell<D>> {
        let target = self.register(register);
        let cases = self.cases(cell, value);
        cases.into_iter().flat_map(|(cell, found)| self.set(&cell, target, &found)).collect()
    }

    fn pick<D: Domain>(&mut self, cell: &Cell<D>, register: RegisterId, lo: Value, hi: Value) -> Vec<Cell<D>> {
        let range = Range { least: Some(i128::from(lo)), most: Some(i128::from(hi)) };
        self.set(cell, self.register(register), &Found::Between(range))
    }

    fn load<D: Domain>(&mut self, cell: Cell<D>, register: RegisterId, place: &Place) -> Vec<Cell<D>> {
        let target = self.register(register);
        let mut out = Vec::new();
        for (cell, x) in self.resolve(cell, place) {
            let value = self.evaluator.value_of(&cell, self.evaluator.layout.location(x));
            out.extend(self.set(&cell, target, &Found::Sum(value)));
        }
        out
    }

    fn store<D: Domain>(&mut self, cell: Cell<D>, place: &Place, value: &Expr<RegisterId>) -> Vec<Cell<D>> {
        let mut out = Vec::new();
        for (cell, x) in self.resolve(cell, place) {
            let target = self.evaluator.layout.location(x);
            for (cell, found) in self.cases(cell, value) {
                out.extend(self.set(&cell, target, &found));
            }
        }
        out
    }

    /// The locations that a place may stand for, each with the states in which it does.
    fn resolve<D: Domain>(&mut self, cell: Cell<D>, place: &Place) -> Vec<(Cell<D>, LocationId)> {
        let (array, index) = match place {
            Place::Fixed(x) => return vec![(cell, *x)],
            Place::Cell(array, index) => (&self.program.arrays()[*array], index),
        };
        let mut out = Vec::new();
        for (cell, found) in self.cases(cell, index) {
            if is_outside(&cell, &found, (0, i128::from(array.len) - 1)) {
                self.evaluator.troubles.push(Trouble::Index);
            }
            for (i, x) in array.cells().enumerate() {
                out.extend(is(&cell, &found, i as i128).map(|cell| (cell, x)));
            }
        }
        out
    }

    /// A variable gets a value; one outside its domain is a violation.
    fn set<D: Domain>(&mut self, cell: &Cell<D>, target: Variable, found: &Found) -> Vec<Cell<D>> {
        let known = &self.evaluator.layout.variables[target];
        let bounds = known.domain.bounds().map(|(lo, hi)| (i128::from(lo), i128::from(hi)));
        if bounds.is_some_and(|bounds| is_outside(cell, found, bounds)) {
            self.evaluator.troubles.push(Trouble::Range);
        }
        match (known.kind, known.domain.bounds()) {
            (Kind::Exact, Some((lo, hi))) => {
                let to = |value: Value| {
                    let mut cell = is(cell, found, i128::from(value))?;
                    cell.exact[target] = value;
                    Some(cell)
                };
                (lo..=hi).filter_map(to).collect()
            }
            (Kind::Exact, None) => unreachable!("what is kept exactly has few values"),
            (Kind::Number(dimension), _) => {
                self.set_number(cell.clone(), dimension, found, bounds).into_iter().collect()
            }
        }
    }

    fn set_number<D: Domain>(
        &self,
        mut cell: Cell<D>,
        dimension: usize,
        found: &Found,
        bounds: Option<(i128, i128)>,
    ) -> Option<Cell<D>> {
        let sum = Linear::var(dimension);
        let cell = match found {
            Found::Sum(value) => {
                let is_possible = cell.numbers.assign(dimension, value, self.evaluator.layout.spare());
                is_possible.then_some(cell)
            }
            Found::Between(range) => {
                cell.numbers.forget(dimension);
                cell.between(&sum, range.least, range.most)
            }
        }?;
        match bounds {
            Some((lo, hi)) => cell.between(&sum, Some(lo), Some(hi)),
            None => Some(cell),
        }
    }
}

/// The states in which something has a value.
fn is<D: Domain>(cell: &Cell<D>, found: &Found, value: i128) -> Option<Cell<D>> {
    match found {
        Found::Sum(sum) => match sum.as_constant() {
            Some(constant) => (constant == value).then(|| cell.clone()),
            None => cell.between(sum, Some(value), Some(value)),
        },
        Found::Between(range) => {
            let may_be = range.least.is_none_or(|it| it <= value) && range.most.is_none_or(|it| it >= value);
            may_be.then(|| cell.clone())
        }
    }
}

/// Whether something may be outside a range.
fn is_outside<D: Domain>(cell: &Cell<D>, found: &Found, (lo, hi): (i128, i128)) -> bool {
    match found {
        Found::Sum(sum) => match sum.as_constant() {
            Some(constant) => constant < lo || constant > hi,
            None => cell.between(sum, None, Some(lo - 1)).is_some() || cell.between(sum, Some(hi + 1), None).is_some(),
        },
        Found::Between(range) => range.least.is_none_or(|it| it < lo) || range.most.is_none_or(|it| it > hi),
    }
}
