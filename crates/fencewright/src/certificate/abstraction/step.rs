//! The steps of a configuration: what a process may do next, and stores that leave their buffers.
//!
//! Each rule is the one of the reference semantics (`semantics.md`), with values that are known in part: where what
//! happens depends on data, by cases.

use std::collections::BTreeSet;

use crate::certificate::Failure;
use crate::memory::{Buffering, PsoRmw};
use crate::numeric::Term;
use crate::program::{
    Domain, EdgeId, Expr, FenceKind, LocationId, Micro, Op, Place, ProcessId, RegisterId, RmwVar, Value,
};
use crate::system::{Flow, Move};
use crate::util::IndexVec;

use super::Storing;
use super::buffer::{Buffer, Leaves, Leaving, Rules};
use super::configuration::{Configuration, Known, Layout, within};
use super::data::Data;
use super::evaluate::{range_of, term, truth, value};
use super::late::is_own;

/// What a step leads to.
pub(super) enum Next {
    /// Another configuration.
    Configuration(Configuration),
    /// An assertion, a range, an index or a division goes wrong on this edge.
    Fault(EdgeId),
}

/// What part of a step leads to: a configuration, or something that goes wrong.
type Part = Option<Configuration>;

/// What is done with a value.
type With<'a> = dyn Fn(&Configuration, Term) -> Result<Configuration, Failure> + 'a;

/// What is done at a location.
type Doing<'a> = dyn Fn(&Configuration, LocationId) -> Result<Vec<Part>, Failure> + 'a;

/// Takes steps.
#[derive(Clone, Copy)]
pub(super) struct Stepper<'a> {
    pub(super) flow: Flow<'a>,
    /// Who takes them.
    pub(super) known: &'a Known,
    pub(super) layout: &'a Layout,
    /// What becomes of the stores of each process.
    pub(super) storing: &'a IndexVec<ProcessId, Storing>,
    pub(super) k: usize,
    /// The locations to which stores are said to rise.
    pub(super) rising: &'a BTreeSet<LocationId>,
    /// The locations of which memory is said never to hold less than before.
    pub(super) growing: &'a BTreeSet<LocationId>,
}

impl Stepper<'_> {
    /// Every step of a configuration.
    pub(super) fn all(&self, from: &Configuration) -> Result<Vec<Next>, Failure> {
        let mut out = Vec::new();
        for &process in &self.known.threads {
            out.extend(self.moves(from, process)?);
            out.extend(self.flushes(from, process)?.into_iter().map(Next::Configuration));
        }
        Ok(out)
    }

    /// The steps of a process itself.
    pub(super) fn moves(&self, from: &Configuration, process: ProcessId) -> Result<Vec<Next>, Failure> {
        let mut out = Vec::new();
        for (next, control) in self.flow.moves(from.key.controls[process]) {
            match next {
                Move::Fence(_, kind) => {
                    let passed = self.fence(from, process, kind).map(|it| it.at(process, control));
                    out.extend(passed.map(Next::Configuration));
                }
                Move::Edge(edge) => {
                    for part in self.run(from, process, &self.flow.program.edges()[edge].op)? {
                        out.push(part.map_or(Next::Fault(edge), |it| Next::Configuration(it.at(process, control))));
                    }
                }
            }
        }
        Ok(out)
    }

    fn rules(&self, process: ProcessId) -> Rules<'_> {
        Rules { machine: self.storing[process].machine, k: self.k, rising: self.rising }
    }

    /// The stores of a process that may leave.
    fn flushes(&self, from: &Configuration, process: ProcessId) -> Result<Vec<Configuration>, Failure> {
        let any = Term::var(from.data.zone.n_variables());
        let mut out = Vec::new();
        for Leaving { location, value, rest } in
            from.buffer(process, self.layout).leaving(self.storing[process].machine, any)
        {
            let x = self.layout.location(location).expect("no store waits for a location that others write");
            let (from, value) = match value {
                Leaves::With(value) => (Some(from.clone()), value),
                Leaves::Any => (self.with_any(from, location, None), any),
                Leaves::Between(first, last) => (self.with_any(from, location, Some((Some(first), last))), any),
            };
            let Some(from) = from else { continue };
            self.check_growing(&from, location, value)?;
            out.push(from.assigned(&[(x, value)], Some((process, &rest)), self.layout));
        }
        Ok(out)
    }

    /// With a variable more that is any value of a location, perhaps from one up to another; `None` if none is.
    fn with_any(&self, from: &Configuration, x: LocationId, between: Option<(Option<Term>, Term)>) -> Part {
        let mut data = from.data.extended();
        let any = from.data.zone.n_variables();
        let bounds = self.flow.program.locations()[x].domain.bounds();
        let is_possible = bounds.is_none_or(|bounds| within(&mut data.zone, any, bounds))
            && between.is_none_or(|(first, last)| {
                first.is_none_or(|first| data.zone.add_difference(first, Term::var(any), 0))
                    && data.zone.add_difference(Term::var(any), last, 0)
            });
        is_possible.then(|| from.with_data(data))
    }

    /// Refuses a store that falls below one that waits, where none is said to.
    fn check_rising(&self, from: &Configuration, buffer: &Buffer, x: LocationId, value: Term) -> Result<(), Failure> {
        let Some(waiting) = buffer.load(x).filter(|_| self.rising.contains(&x)) else { return Ok(()) };
        let is_below = from.data.zone.clone().add_difference(value, waiting, -1);
        match is_below {
            false => Ok(()),
            true => Failure::refused(format!("stores to `{}` may fall", self.flow.program.locations()[x].name)),
        }
    }

    /// Refuses that memory holds less than before, where it is said never to.
    fn check_growing(&self, from: &Configuration, x: LocationId, value: Term) -> Result<(), Failure> {
        let Some(held) = self.layout.location(x).map(Term::var) else { return Ok(()) };
        let may_fall = self.growing.contains(&x) && from.data.zone.clone().add_difference(value, held, -1);
        match may_fall {
            false => Ok(()),
            true => Failure::refused(format!("`{}` may fall in memory", self.flow.program.locations()[x].name)),
        }
    }

    fn fence(&self, from: &Configuration, process: ProcessId, kind: FenceKind) -> Part {
        match (kind, self.storing[process].machine) {
            (FenceKind::Full, _) => from.key.shapes[process].is_empty().then(|| from.clone()),
            (FenceKind::StoreStore, Buffering::None | Buffering::Fifo) => Some(from.clone()),
            (FenceKind::StoreStore, Buffering::PerLocation(_)) => {
                let mut buffer = from.buffer(process, self.layout);
                buffer.mark(self.storing[process].machine);
                Some(from.assigned(&[], Some((process, &buffer)), self.layout))
            }
        }
    }

    /// What an operation leads to, control aside.
    pub(super) fn run(&self, from: &Configuration, process: ProcessId, op: &Op) -> Result<Vec<Part>, Failure> {
        match op {
            Op::Assume(condition) => self.assume(from, process, condition),
            Op::Assert(condition) => self.assert(from, process, condition),
            Op::Assign(register, value) => self.compute(from, process, *register, value),
            Op::Havoc(register, lo, hi) => Ok(vec![Some(self.havoc(from, process, *register, (*lo, *hi)))]),
            Op::Fence(kind) => Ok(self.fence(from, process, *kind).map(Some).into_iter().collect()),
            Op::Load(register, place) => {
                self.at_place(from, process, place, &|from, x| self.load(from, process, *register, x))
            }
            Op::Store(place, value) => self.at_place(from, process, place, &|from, x| {
                self.stored(from, process, (x, value), &|from, written| self.store(from, process, x, written))
            }),
            Op::Rmw { place, guard, write, into } => {
                self.at_place(from, process, place, &|from, x| match self.lets_update(from, process, x) {
                    true => self.update(from, process, x, (guard, write.as_ref(), *into)),
                    false => Ok(Vec::new()),
                })
            }
            Op::Locked(body) if from.key.shapes[process].is_empty() => self.block(from, process, body),
            Op::Locked(_) => Ok(Vec::new()),
        }
    }

    /// Whether the process cannot go on by any of these local conditions, somewhere in a configuration.
    pub(super) fn may_block(
        &self,
        from: &Configuration,
        process: ProcessId,
        conditions: &[&Expr<RegisterId>],
    ) -> Result<bool, Failure> {
        let mut open = vec![from.data.clone()];
        for condition in conditions {
            let mut still = Vec::new();
            for data in &open {
                let cases = truth(condition, data, &self.registers(process))?;
                still.extend(cases.into_iter().filter(|case| case.1 == Some(false)).map(|case| case.0));
            }
            open = still;
        }
        Ok(!open.is_empty())
    }

    fn registers(&self, process: ProcessId) -> impl Fn(&RegisterId) -> usize {
        move |register| self.layout.register(process, *register)
    }

    fn assume(&self, from: &Configuration, p: ProcessId, condition: &Expr<RegisterId>) -> Result<Vec<Part>, Failure> {
        let cases = truth(condition, &from.data, &self.registers(p))?.into_iter();
        let part = |(data, truth): (Data, Option<bool>)| match truth {
            Some(true) => Some(Some(from.with_data(data))),
            Some(false) => None,
            None => Some(None),
        };
        Ok(cases.filter_map(part).collect())
    }

    fn assert(&self, from: &Configuration, p: ProcessId, condition: &Expr<RegisterId>) -> Result<Vec<Part>, Failure> {
        let cases = truth(condition, &from.data, &self.registers(p))?.into_iter();
        Ok(cases.map(|(data, truth)| (truth == Some(true)).then(|| from.with_data(data))).collect())
    }

    fn compute(
        &self,
        from: &Configuration,
        process: ProcessId,
        register: RegisterId,
        expr: &Expr<RegisterId>,
    ) -> Result<Vec<Part>, Failure> {
        let domain = self.flow.program.processes()[process].registers[register].domain;
        self.in_domain(from, (expr, &self.registers(process)), domain, &|from, term| {
            Ok(from.assigned(&[(self.layout.register(process, register), term)], None, self.layout))
        })
    }

    /// A register gets what a variable holds.
    fn assign(
        &self,
        from: &Configuration,
        p: ProcessId,
        register: RegisterId,
        to: usize,
    ) -> Result<Vec<Part>, Failure> {
        let domain = self.flow.program.processes()[p].registers[register].domain;
        self.in_domain(from, (&Expr::Var(()), &|()| to), domain, &|from, term| {
            Ok(from.assigned(&[(self.layout.register(p, register), term)], None, self.layout))
        })
    }

    /// A register gets what a load finds.
    fn load(
        &self,
        from: &Configuration,
        process: ProcessId,
        register: RegisterId,
        x: LocationId,
    ) -> Result<Vec<Part>, Failure> {
        let may_wait = self.storing[process].stale.contains(&from.key.controls[process]);
        if may_wait && !is_own(self.flow.program, process, x) {
            return self.stale_load(from, process, register, x);
        }
        match from.buffer(process, self.layout).load(x) {
            Some(waiting) => self.assign(from, process, register, waiting.base),
            None => self.found(from, process, register, x),
        }
    }

    /// A register gets what memory holds, or anything where nothing is known of that.
    fn found(
        &self,
        from: &Configuration,
        process: ProcessId,
        register: RegisterId,
        x: LocationId,
    ) -> Result<Vec<Part>, Failure> {
        let Some((from, cell)) = self.held(from, x) else { return Ok(Vec::new()) };
        self.assign(&from, process, register, cell)
    }

    /// The variable of what memory holds at a location: one more that is any value if nothing is known of it.
    fn held(&self, from: &Configuration, x: LocationId) -> Option<(Configuration, usize)> {
        match self.layout.location(x) {
            Some(cell) => Some((from.clone(), cell)),
            None => Some((self.with_any(from, x, None)?, from.data.zone.n_variables())),
        }
    }

    /// A register gets anything that a location may hold, if it may hold it itself.
    fn stale_load(
        &self,
        from: &Configuration,
        process: ProcessId,
        register: RegisterId,
        x: LocationId,
    ) -> Result<Vec<Part>, Failure> {
        // What memory once held is at most what it holds, if that grows.
        let held = self.layout.location(x).filter(|_| self.growing.contains(&x)).map(|it| (None, Term::var(it)));
        let Some(from) = self.with_any(from, x, held) else { return Ok(Vec::new()) };
        let found = from.data.zone.n_variables() - 1;
        self.assign(&from, process, register, found)
    }

    fn havoc(
        &self,
        from: &Configuration,
        process: ProcessId,
        register: RegisterId,
        range: (Value, Value),
    ) -> Configuration {
        let mut next = from.clone();
        let variable = self.layout.register(process, register);
        next.data.forget(variable);
        let is_possible = within(&mut next.data.zone, variable, range);
        debug_assert!(is_possible, "nothing was known of it");
        next
    }

    /// What an expression may be in a domain, and that it may be outside.
    fn in_domain<V>(
        &self,
        from: &Configuration,
        (expr, variable): (&Expr<V>, &impl Fn(&V) -> usize),
        domain: Domain,
        with: &With<'_>,
    ) -> Result<Vec<Part>, Failure> {
        let mut out = Vec::new();
        for (data, sum) in value(expr, &from.data, variable)? {
            let Some(sum) = sum else {
                out.push(None);
                continue;
            };
            let [inside, outside] = match domain.bounds() {
                Some(bounds) => range_of(&data, &sum, bounds)?,
                None => [vec![data], Vec::new()],
            };
            out.extend(outside.iter().map(|_| None));
            for data in inside {
                for (data, term) in term(&data, &sum)? {
                    out.push(Some(with(&from.with_data(data), term)?));
                }
            }
        }
        Ok(out)
    }

    /// A store of an expression to a location, done by `with`.
    fn stored(
        &self,
        from: &Configuration,
        process: ProcessId,
        (x, expr): (LocationId, &Expr<RegisterId>),
        with: &With<'_>,
    ) -> Result<Vec<Part>, Failure> {
        let domain = self.flow.program.locations()[x].domain;
        self.in_domain(from, (expr, &self.registers(process)), domain, with)
    }

    /// A value is stored, in the buffer if there is one. Where nothing is known of the location, it is forgotten.
    fn store(&self, from: &Configuration, p: ProcessId, x: LocationId, value: Term) -> Result<Configuration, Failure> {
        match self.storing[p].machine {
            Buffering::Fifo | Buffering::PerLocation(_) if self.layout.location(x).is_some() => {
                let mut buffer = from.buffer(p, self.layout);
                self.check_rising(from, &buffer, x, value)?;
                buffer.store(x, value, self.rules(p));
                Ok(from.assigned(&[], Some((p, &buffer)), self.layout))
            }
            Buffering::None | Buffering::Fifo | Buffering::PerLocation(_) => self.written(from, x, value),
        }
    }

    /// Memory holds a value.
    fn written(&self, from: &Configuration, x: LocationId, value: Term) -> Result<Configuration, Failure> {
        self.check_growing(from, x, value)?;
        let written: Vec<(usize, Term)> = self.layout.location(x).map(|cell| (cell, value)).into_iter().collect();
        Ok(from.assigned(&written, None, self.layout))
    }

    /// Whether an update of a location need not wait. No store waits for one of which nothing is known.
    fn lets_update(&self, from: &Configuration, process: ProcessId, x: LocationId) -> bool {
        let machine = self.storing[process].machine;
        let is_free = machine == Buffering::PerLocation(PsoRmw::Location) && self.layout.location(x).is_none();
        is_free || from.buffer(process, self.layout).lets_update(x, machine)
    }

    /// Does something at the location that a place stands for, by cases of its index.
    fn at_place(
        &self,
        from: &Configuration,
        process: ProcessId,
        place: &Place,
        with: &Doing<'_>,
    ) -> Result<Vec<Part>, Failure> {
        let (array, index) = match place {
            Place::Fixed(x) => return with(from, *x),
            Place::Cell(array, index) => (&self.flow.program.arrays()[*array], index),
        };
        let mut out = Vec::new();
        for (data, sum) in value(index, &from.data, &self.registers(process))? {
            let Some(sum) = sum else {
                out.push(None);
                continue;
            };
            for (cell, x) in array.cells().enumerate() {
                let cell = Value::try_from(cell).expect("an array has fewer than 2^32 cells");
                for data in &range_of(&data, &sum, (cell, cell))?[0] {
                    out.extend(with(&from.with_data(data.clone()), x)?);
                }
            }
            let [_, outside] = range_of(&data, &sum, (0, Value::from(array.len) - 1))?;
            out.extend(outside.iter().map(|_| None));
        }
        Ok(out)
    }

    /// An atomic update, which finds what memory holds.
    fn update(
        &self,
        from: &Configuration,
        process: ProcessId,
        x: LocationId,
        (guard, write, into): (&Expr<RmwVar>, Option<&Expr<RmwVar>>, Option<RegisterId>),
    ) -> Result<Vec<Part>, Failure> {
        let Some((from, cell)) = self.held(from, x) else { return Ok(Vec::new()) };
        let variable = |it: &RmwVar| match it {
            RmwVar::Old => cell,
            RmwVar::Register(register) => self.layout.register(process, *register),
        };
        let mut out = Vec::new();
        for (data, truth) in truth(guard, &from.data, &variable)? {
            let from = from.with_data(data);
            match (truth, write) {
                (Some(false), _) => {}
                (None, _) => out.push(None),
                (Some(true), None) => out.push(Some((from, Term::var(cell)))),
                (Some(true), Some(write)) => {
                    let domain = self.flow.program.locations()[x].domain;
                    // The new value is held by a variable of its own until the old one has gone where it goes.
                    let parts = self.in_domain(&from, (write, &variable), domain, &|from, new| {
                        let mut data = from.data.extended();
                        let is_possible = data.equate(Term::var(from.data.zone.n_variables()), new);
                        debug_assert!(is_possible, "nothing was known of it");
                        Ok(from.with_data(data))
                    })?;
                    let written = |part: Configuration| {
                        let new = Term::var(part.data.zone.n_variables() - 1);
                        (part, new)
                    };
                    out.extend(parts.into_iter().map(|part| part.map(written)));
                }
            }
        }
        for (from, new) in out.iter().flatten() {
            self.check_growing(from, x, *new)?;
        }
        self.finish_update(process, (x, cell), into, out)
    }

    /// The old value goes into a register, if it is one that the register may hold, and the new one into memory.
    fn finish_update(
        &self,
        process: ProcessId,
        (x, cell): (LocationId, usize),
        into: Option<RegisterId>,
        parts: Vec<Option<(Configuration, Term)>>,
    ) -> Result<Vec<Part>, Failure> {
        let mut out = Vec::new();
        for part in parts {
            let Some((from, new)) = part else {
                out.push(None);
                continue;
            };
            let written = self.layout.location(x).map(|cell| (cell, new));
            let Some(register) = into else {
                out.push(Some(from.assigned(&Vec::from_iter(written), None, self.layout)));
                continue;
            };
            let domain = self.flow.program.processes()[process].registers[register].domain;
            let register = self.layout.register(process, register);
            out.extend(self.in_domain(&from, (&Expr::Var(()), &|()| cell), domain, &|from, old| {
                let assigned: Vec<(usize, Term)> = std::iter::once((register, old)).chain(written).collect();
                Ok(from.assigned(&assigned, None, self.layout))
            })?);
        }
        Ok(out)
    }

    /// A block in one step against memory.
    fn block(&self, from: &Configuration, process: ProcessId, body: &[Micro]) -> Result<Vec<Part>, Failure> {
        let mut parts = vec![Some(from.clone())];
        for micro in body {
            let mut next = Vec::new();
            for part in parts {
                match part {
                    Some(from) => next.extend(self.micro(&from, process, micro)?),
                    None => next.push(None),
                }
            }
            parts = next;
        }
        Ok(parts)
    }

    fn micro(&self, from: &Configuration, process: ProcessId, micro: &Micro) -> Result<Vec<Part>, Failure> {
        match micro {
            Micro::Assume(condition) => self.assume(from, process, condition),
            Micro::Assert(condition) => self.assert(from, process, condition),
            Micro::Assign(register, value) => self.compute(from, process, *register, value),
            Micro::Havoc(register, lo, hi) => Ok(vec![Some(self.havoc(from, process, *register, (*lo, *hi)))]),
            Micro::Load(register, place) => {
                self.at_place(from, process, place, &|from, x| self.found(from, process, *register, x))
            }
            Micro::Store(place, value) => self.at_place(from, process, place, &|from, x| {
                self.stored(from, process, (x, value), &|from, written| self.written(from, x, written))
            }),
            Micro::Choose(branches) => {
                let parts = branches.iter().map(|branch| self.block(from, process, branch));
                Ok(parts.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
            }
        }
    }
}
