//! What a step does to the variables of a process and to memory, as one parallel assignment of sums under a guard.
//!
//! A locked block, or an operation with the local steps behind it, is run symbolically: every variable is a [`Sum`]
//! over what the variables were before the step, what a load finds, and what a havoc picks. A value that is linear, but
//! no sum, is *picked* too, under a guard that says which it is.

use std::collections::BTreeMap;

use crate::engine::symbolic::difference::{Arithmetic, AtMost, Beyond, Conjunction, Differences, Sum};
use crate::engine::symbolic::linear::Linear;
use crate::numeric::{Bound, Zone};
use crate::program::{
    ANY_INTEGER, BinaryOp, Domain, Expr, LocationId, Micro, Op, Place, ProcessId, Program, RegisterId, RmwVar, Value,
};

/// What a step depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Var {
    /// A register before the step.
    Register(RegisterId),
    /// Memory before the step; only in atomic steps.
    Memory(LocationId),
    /// What the step's load finds.
    Loaded,
    /// What a havoc picks.
    Picked(usize),
}

/// What a step does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    /// When it can happen.
    pub when: Conjunction<Var>,
    /// Registers afterwards; the others stay.
    pub registers: BTreeMap<RegisterId, Sum<Var>>,
    /// Memory afterwards; the rest stays. Only in atomic steps.
    pub memory: BTreeMap<LocationId, Sum<Var>>,
    /// The ranges of what is picked; [`ANY`] is none.
    pub picks: Vec<(Value, Value)>,
    /// The location that is loaded from.
    pub loaded: Option<LocationId>,
}

/// The range of what may be any value. Bounds are weaker than none at its ends.
pub(crate) const ANY: (Value, Value) = ANY_INTEGER;

/// A way through an operation.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// It goes on.
    Next(Effect),
    /// It is a violation: an assertion, a range, an index.
    Fault(Effect),
}

/// What an operation does to memory, decided by its place and registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// Nothing.
    Nothing,
    /// Loads from a location.
    Load(LocationId),
    /// Stores a sum of registers to a location.
    Store(LocationId, Sum<Var>),
    /// Atomically changes memory; waits for stores to this location, or to all.
    Atomic(Option<LocationId>),
}

/// Runs operations of a process symbolically.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbolic<'a> {
    /// The program.
    pub program: &'a Program,
    /// Whose operations.
    pub process: ProcessId,
    /// What arithmetic is taken.
    pub arithmetic: Arithmetic,
    /// What remainders are by.
    pub modulus: Value,
}

/// Where a store goes, how it ends, and what it writes.
type Stored = (Option<LocationId>, End, Sum<Var>);

/// A block with more ways through it than this is not worth it.
const MAX_WAYS: usize = 256;

impl Symbolic<'_> {
    /// Every way through an operation after what has happened in the step already.
    pub(crate) fn run(&self, op: &Op, before: &Effect) -> Result<Vec<(Touch, End)>, Beyond> {
        let touching = |touch: Touch, ends: Vec<End>| ends.into_iter().map(move |end| (touch, end));
        let mut out = Vec::new();
        match op {
            Op::Assume(condition) => out.extend(touching(Touch::Nothing, self.assume(condition, before)?)),
            Op::Assert(condition) => out.extend(touching(Touch::Nothing, self.assert(condition, before)?)),
            Op::Assign(register, value) => {
                out.extend(touching(Touch::Nothing, self.compute(*register, value, before)?));
            }
            Op::Havoc(register, lo, hi) => out.push((Touch::Nothing, pick(*register, (*lo, *hi), before))),
            Op::Fence(_) => out.push((Touch::Nothing, End::Next(before.clone()))),
            Op::Load(register, place) => {
                for (x, effect) in self.resolve(place, before)? {
                    let Some(x) = x else {
                        out.push((Touch::Nothing, End::Fault(effect)));
                        continue;
                    };
                    let effect = Effect { loaded: Some(x), ..effect };
                    out.extend(touching(Touch::Load(x), self.assign(&effect, *register, Sum::var(Var::Loaded))?));
                }
            }
            Op::Store(place, value) => {
                for (x, effect, value) in self.stores(place, value, before)? {
                    match (x, effect) {
                        (Some(x), End::Next(effect)) => out.push((Touch::Store(x, value), End::Next(effect))),
                        (_, end) => out.push((Touch::Nothing, end)),
                    }
                }
            }
            Op::Rmw { place, guard, write, into } => {
                for (x, effect) in self.resolve(place, before)? {
                    match x {
                        Some(x) => {
                            let ends = self.update(x, (guard, write.as_ref(), *into), &effect)?;
                            out.extend(touching(Touch::Atomic(Some(x)), ends));
                        }
                        None => out.push((Touch::Nothing, End::Fault(effect))),
                    }
                }
            }
            Op::Locked(body) => out.extend(touching(Touch::Atomic(None), self.block(body, before)?)),
        }
        out.retain(|(_, end)| self.is_possible(end.effect()));
        Ok(out)
    }

    /// Whether an effect is possible as far as its own guard tells.
    pub(crate) fn is_possible(&self, effect: &Effect) -> bool {
        let mut variables: Vec<Var> =
            effect.when.differences.iter().flat_map(|it| [it.left, it.right]).flatten().collect();
        variables.extend(effect.when.remainders.iter().map(|it| it.variable));
        variables.sort_unstable();
        variables.dedup();
        let place = |it: Option<Var>| it.map_or(0, |it| 1 + variables.binary_search(&it).expect("it is one of them"));
        let mut zone = Zone::all(variables.len() + 1);
        let is_in_domain = variables.iter().enumerate().all(|(i, &variable)| {
            let (lo, hi) = self.bounds(variable, effect).unzip();
            hi.is_none_or(|hi| zone.add(i + 1, 0, Bound::at_most(hi)))
                && lo.and_then(Value::checked_neg).is_none_or(|lo| zone.add(0, i + 1, Bound::at_most(lo)))
        });
        let mut differences = effect.when.differences.iter();
        let mut remainders = effect.when.remainders.iter();
        is_in_domain
            && remainders.all(|it| zone.add_remainder(place(Some(it.variable)), it.modulus, it.remainder))
            && differences.all(|it| zone.add(place(it.left), place(it.right), Bound::at_most(it.bound)))
    }

    /// The cases in which a condition holds, or does not.
    pub(crate) fn when(
        &self,
        condition: &Expr<RegisterId>,
        wanted: bool,
        before: &Effect,
    ) -> Result<Vec<Effect>, Beyond> {
        self.when_sums(condition, wanted, before, &|register| register_of(before, *register))
    }

    fn assume(&self, condition: &Expr<RegisterId>, before: &Effect) -> Result<Vec<End>, Beyond> {
        Ok(self.when(condition, true, before)?.into_iter().map(End::Next).collect())
    }

    fn assert(&self, condition: &Expr<RegisterId>, before: &Effect) -> Result<Vec<End>, Beyond> {
        let wrong = self.when(condition, false, before)?.into_iter().map(End::Fault);
        Ok(self.assume(condition, before)?.into_iter().chain(wrong).collect())
    }

    fn compute(&self, register: RegisterId, value: &Expr<RegisterId>, before: &Effect) -> Result<Vec<End>, Beyond> {
        let mut ends = Vec::new();
        for (effect, value) in self.sums(value, before, &|register| register_of(before, *register))? {
            ends.extend(self.assign(&effect, register, value)?);
        }
        Ok(ends)
    }

    fn block(&self, body: &[Micro], before: &Effect) -> Result<Vec<End>, Beyond> {
        let mut ends = vec![End::Next(before.clone())];
        for micro in body {
            let mut next = Vec::new();
            for end in ends {
                match end {
                    End::Next(effect) => next.extend(self.micro(micro, &effect)?),
                    End::Fault(effect) => next.push(End::Fault(effect)),
                }
            }
            next.retain(|end| self.is_possible(end.effect()));
            if next.len() > MAX_WAYS {
                return Err(Beyond);
            }
            ends = next;
        }
        Ok(ends)
    }

    fn micro(&self, micro: &Micro, before: &Effect) -> Result<Vec<End>, Beyond> {
        let mut ends = Vec::new();
        match micro {
            Micro::Assume(condition) => ends = self.assume(condition, before)?,
            Micro::Assert(condition) => ends = self.assert(condition, before)?,
            Micro::Assign(register, value) => ends = self.compute(*register, value, before)?,
            Micro::Havoc(register, lo, hi) => ends.push(pick(*register, (*lo, *hi), before)),
            Micro::Load(register, place) => {
                for (x, effect) in self.resolve(place, before)? {
                    match x {
                        Some(x) => ends.extend(self.assign(&effect, *register, memory_of(&effect, x))?),
                        None => ends.push(End::Fault(effect)),
                    }
                }
            }
            Micro::Store(place, value) => {
                for (x, end, value) in self.stores(place, value, before)? {
                    ends.push(match (x, end) {
                        (Some(x), End::Next(effect)) => End::Next(with_memory(effect, x, value)),
                        (_, end) => end,
                    });
                }
            }
            Micro::Choose(branches) => {
                for branch in branches {
                    ends.extend(self.block(branch, before)?);
                }
            }
        }
        Ok(ends)
    }

    /// Every way through an atomic update of a location.
    fn update(
        &self,
        x: LocationId,
        (guard, write, into): (&Expr<RmwVar>, Option<&Expr<RmwVar>>, Option<RegisterId>),
        before: &Effect,
    ) -> Result<Vec<End>, Beyond> {
        let old = memory_of(before, x);
        let sum_of = |variable: &RmwVar| match variable {
            RmwVar::Old => old,
            RmwVar::Register(register) => register_of(before, *register),
        };
        let mut ends = Vec::new();
        for enabled in self.when_sums(guard, true, before, &sum_of)? {
            let mut written = Vec::new();
            match write {
                None => written.push(End::Next(enabled)),
                Some(write) => {
                    for (effect, new) in self.sums(write, &enabled, &sum_of)? {
                        let domain = self.program.locations()[x].domain;
                        written.extend(self.in_domain(&with_memory(effect, x, new), new, domain)?);
                    }
                }
            }
            for end in written {
                match (end, into) {
                    (End::Next(effect), Some(register)) => ends.extend(self.assign(&effect, register, old)?),
                    (end, _) => ends.push(end),
                }
            }
        }
        Ok(ends)
    }

    /// What a store writes, and where; a violation without a location if the index is outside the array.
    fn stores(&self, place: &Place, value: &Expr<RegisterId>, before: &Effect) -> Result<Vec<Stored>, Beyond> {
        let mut out = Vec::new();
        for (x, effect) in self.resolve(place, before)? {
            let Some(x) = x else {
                out.push((None, End::Fault(effect), Sum { var: None, plus: 0 }));
                continue;
            };
            for (effect, value) in self.sums(value, &effect, &|register| register_of(&effect, *register))? {
                let ends = self.in_domain(&effect, value, self.program.locations()[x].domain)?;
                out.extend(ends.into_iter().map(|end| (Some(x), end, value)));
            }
        }
        Ok(out)
    }

    /// The location that a place stands for, by cases; none where the index is outside the array.
    fn resolve(&self, place: &Place, before: &Effect) -> Result<Vec<(Option<LocationId>, Effect)>, Beyond> {
        let (array, index) = match place {
            Place::Fixed(x) => return Ok(vec![(Some(*x), before.clone())]),
            Place::Cell(array, index) => (&self.program.arrays()[*array], index),
        };
        let mut out = Vec::new();
        for (effect, index) in self.sums(index, before, &|register| register_of(before, *register))? {
            let last = Value::from(array.len) - 1;
            for (i, x) in array.cells().enumerate() {
                let i = Value::try_from(i).map_err(|_| Beyond)?;
                let here = within(&effect, index, Some(i), Some(i))?;
                out.extend(here.map(|effect| (Some(x), effect)));
            }
            let outside = [within(&effect, index, None, Some(-1))?, within(&effect, index, Some(last + 1), None)?];
            out.extend(outside.into_iter().flatten().map(|effect| (None, effect)));
        }
        out.retain(|(_, effect)| self.is_possible(effect));
        Ok(out)
    }

    /// A register gets a value; outside its range it is a violation.
    fn assign(&self, before: &Effect, register: RegisterId, value: Sum<Var>) -> Result<Vec<End>, Beyond> {
        let domain = self.program.processes()[self.process].registers[register].domain;
        let ends = self.in_domain(before, value, domain)?.into_iter();
        let assigned = |end| match end {
            End::Next(mut effect) => {
                effect.registers.insert(register, value);
                End::Next(effect)
            }
            End::Fault(effect) => End::Fault(effect),
        };
        Ok(ends.map(assigned).collect())
    }

    /// A value is in a domain, or that is a violation.
    fn in_domain(&self, before: &Effect, value: Sum<Var>, domain: Domain) -> Result<Vec<End>, Beyond> {
        let Some((lo, hi)) = domain.bounds() else { return Ok(vec![End::Next(before.clone())]) };
        let mut ends: Vec<End> = within(before, value, Some(lo), Some(hi))?.map(End::Next).into_iter().collect();
        if let Some(below) = lo.checked_sub(1) {
            ends.extend(within(before, value, None, Some(below))?.map(End::Fault));
        }
        if let Some(above) = hi.checked_add(1) {
            ends.extend(within(before, value, Some(above), None)?.map(End::Fault));
        }
        ends.retain(|end| self.is_possible(end.effect()));
        Ok(ends)
    }

    fn sums<V>(
        &self,
        expr: &Expr<V>,
        before: &Effect,
        sum_of: &impl Fn(&V) -> Sum<Var>,
    ) -> Result<Vec<(Effect, Sum<Var>)>, Beyond> {
        let domain = |variable: Var| self.bounds(variable, before);
        let differences = Differences { domain: &domain, arithmetic: self.arithmetic, modulus: self.modulus };
        let cases = differences.values(&resolved(expr, sum_of))?.into_iter();
        cases.map(|(when, value)| with_value(with_guard(before, &when), &value)).collect()
    }

    fn when_sums<V>(
        &self,
        condition: &Expr<V>,
        wanted: bool,
        before: &Effect,
        sum_of: &impl Fn(&V) -> Sum<Var>,
    ) -> Result<Vec<Effect>, Beyond> {
        let domain = |variable: Var| self.bounds(variable, before);
        let differences = Differences { domain: &domain, arithmetic: self.arithmetic, modulus: self.modulus };
        let cases = differences.holds(&resolved(condition, sum_of), wanted)?.into_iter();
        let mut effects: Vec<Effect> = cases.map(|when| with_guard(before, &when)).collect();
        effects.retain(|effect| self.is_possible(effect));
        Ok(effects)
    }

    /// The least and greatest value of a variable, if there are such.
    fn bounds(&self, variable: Var, effect: &Effect) -> Option<(Value, Value)> {
        match variable {
            Var::Register(register) => self.program.processes()[self.process].registers[register].domain.bounds(),
            Var::Memory(x) => self.program.locations()[x].domain.bounds(),
            Var::Loaded => effect.loaded.and_then(|x| self.program.locations()[x].domain.bounds()),
            Var::Picked(i) => effect.picks.get(i).copied().filter(|&it| it != ANY),
        }
    }
}

impl End {
    /// What has happened.
    pub(crate) fn effect(&self) -> &Effect {
        match self {
            Self::Next(effect) | Self::Fault(effect) => effect,
        }
    }
}

/// What a register holds after what has happened.
pub(crate) fn register_of(effect: &Effect, register: RegisterId) -> Sum<Var> {
    effect.registers.get(&register).copied().unwrap_or(Sum::var(Var::Register(register)))
}

fn memory_of(effect: &Effect, x: LocationId) -> Sum<Var> {
    effect.memory.get(&x).copied().unwrap_or(Sum::var(Var::Memory(x)))
}

fn with_memory(mut effect: Effect, x: LocationId, value: Sum<Var>) -> Effect {
    effect.memory.insert(x, value);
    effect
}

fn with_guard(before: &Effect, when: &Conjunction<Var>) -> Effect {
    Effect { when: before.when.and(when), ..before.clone() }
}

/// A value as a sum; one that is none is picked.
fn with_value(mut effect: Effect, value: &Linear<Var>) -> Result<(Effect, Sum<Var>), Beyond> {
    if let Some(sum) = value.as_sum() {
        return Ok((effect, sum));
    }
    let picked = Var::Picked(effect.picks.len());
    effect.picks.push(ANY);
    let above = value.plus(&Linear::var(picked), -1).ok_or(Beyond)?;
    let below = Linear::constant(0).plus(&above, -1).ok_or(Beyond)?;
    effect.when.rows.extend([above, below]);
    Ok((effect, Sum::var(picked)))
}

fn pick(register: RegisterId, range: (Value, Value), before: &Effect) -> End {
    let mut effect = before.clone();
    effect.picks.push(range);
    effect.registers.insert(register, Sum::var(Var::Picked(effect.picks.len() - 1)));
    End::Next(effect)
}

/// The effect where a value is from `lo` to `hi`; `None` if it cannot be.
fn within(before: &Effect, value: Sum<Var>, lo: Option<Value>, hi: Option<Value>) -> Result<Option<Effect>, Beyond> {
    let Some(variable) = value.var else {
        let is_in = lo.is_none_or(|lo| lo <= value.plus) && hi.is_none_or(|hi| value.plus <= hi);
        return Ok(is_in.then(|| before.clone()));
    };
    let mut effect = before.clone();
    if let Some(hi) = hi {
        let bound = hi.checked_sub(value.plus).ok_or(Beyond)?;
        effect.when.differences.push(AtMost { left: Some(variable), right: None, bound });
    }
    if let Some(lo) = lo {
        let bound = value.plus.checked_sub(lo).ok_or(Beyond)?;
        effect.when.differences.push(AtMost { left: None, right: Some(variable), bound });
    }
    Ok(Some(effect))
}

/// An expression over what the variables were before the step.
fn resolved<V>(expr: &Expr<V>, sum_of: &impl Fn(&V) -> Sum<Var>) -> Expr<Var> {
    match expr {
        Expr::Const(value) => Expr::Const(*value),
        Expr::Var(variable) => match sum_of(variable) {
            Sum { var: None, plus } => Expr::Const(plus),
            Sum { var: Some(variable), plus: 0 } => Expr::Var(variable),
            Sum { var: Some(variable), plus } => Expr::binary(BinaryOp::Add, Expr::Var(variable), Expr::Const(plus)),
        },
        Expr::Unary(op, operand) => Expr::unary(*op, resolved(operand, sum_of)),
        Expr::Binary(op, left, right) => Expr::binary(*op, resolved(left, sum_of), resolved(right, sum_of)),
    }
}
