//! The local states of a process, and the letters by which it steps from one to another.
//!
//! A local state is control with a valuation of the registers, or a process that went wrong. What a process can do is
//! taken from the reference semantics (`system`), with a load that may find any value its location can hold. Letters
//! depend on the model where it has no buffers for them to wait for: under SC every store is an atomic write, and a
//! fence that waits for nothing is a local step.

use std::collections::BTreeSet;
use std::fmt;

use crate::memory::{Buffering, PsoRmw};
use crate::program::{Domain, EdgeId, FenceKind, Initial, LocationId, Micro, Op, ProcessId, Program, Value};
use crate::system::{Block, Control, Fault, Flow, Local, Move, Stop, run_block};
use crate::util::{Idx, IndexVec};

use super::verify::{Failure, Steps};
use crate::watch::Monitor;

/// A local state of a process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LocalState {
    /// The process is here, with these registers.
    Here(Control, Vec<Value>),
    /// The process went wrong.
    Broken(Fault),
}

/// What a step does to memory and buffers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Letter {
    /// Nothing.
    Nop,
    /// Reads this value.
    Read(LocationId, Value),
    /// Writes this value through the buffer.
    Write(LocationId, Value),
    /// Passes a fence that may wait.
    Fence(FenceKind),
    /// Acts on memory at once.
    Atomic(Atomic),
}

/// An atomic step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Atomic {
    /// What it finds in memory.
    pub(super) guards: Vec<(LocationId, Value)>,
    /// What it writes, each location once.
    pub(super) writes: Vec<(LocationId, Value)>,
    /// The location of an update; `None` for what waits for all buffers.
    pub(super) location: Option<LocationId>,
}

/// What each location can hold.
pub(super) type Values = IndexVec<LocationId, BTreeSet<Value>>;

/// A program, and what its locations can hold.
#[derive(Clone, Copy)]
pub(super) struct Offers<'a> {
    pub(super) flow: Flow<'a>,
    pub(super) buffering: Buffering,
    pub(super) values: &'a Values,
    /// Locations that threads write of which nothing is known, if any.
    pub(super) foreign: &'a BTreeSet<LocationId>,
}

/// More local states than this are not listed.
const MAX_LOCALS: usize = 1_000_000;

/// More valuations of the locations that a locked block reads than this are not tried.
const MAX_VALUATIONS: usize = 100_000;

/// All local states of some processes, when locations can hold these values.
///
/// # Errors
/// A write of another value, a value beyond 64 bits, or too many local states.
pub fn local_states(
    flow: Flow<'_>,
    of: &[ProcessId],
    buffering: Buffering,
    values: &IndexVec<LocationId, BTreeSet<Value>>,
    monitor: &dyn Monitor,
) -> Result<Vec<BTreeSet<LocalState>>, Failure> {
    let offers = Offers { flow, buffering, values, foreign: &BTreeSet::new() };
    let mut steps = Steps::new(monitor);
    let all = of.iter().map(|&process| {
        let mut seen = BTreeSet::new();
        let mut todo = Vec::new();
        for start in offers.starts(process)? {
            note(start, &mut seen, &mut todo)?;
        }
        while let Some(state) = todo.pop() {
            steps.step(seen.len() as u64 * 64)?;
            for (_, next) in offers.steps(process, &state)? {
                note(next, &mut seen, &mut todo)?;
            }
        }
        Ok(seen)
    });
    all.collect()
}

fn note(state: LocalState, seen: &mut BTreeSet<LocalState>, todo: &mut Vec<LocalState>) -> Result<(), Failure> {
    if seen.insert(state.clone()) {
        todo.push(state);
    }
    match seen.len() > MAX_LOCALS {
        true => Failure::refused("a process has too many local states"),
        false => Ok(()),
    }
}

/// What a variable can hold at the start.
pub(super) fn initial_range(initial: Initial, domain: Domain) -> Result<(Value, Value), Failure> {
    match (initial, domain.bounds()) {
        (Initial::Value(value), _) => Ok((value, value)),
        (Initial::Any, Some(bounds)) => Ok(bounds),
        (Initial::Any, None) => Failure::refused("a variable starts with any integer"),
    }
}

impl<'a> Offers<'a> {
    /// Where a process can start, one after the other: there may be more than anybody can list.
    pub(super) fn starts(&self, process: ProcessId) -> Result<impl Iterator<Item = LocalState> + use<'a>, Failure> {
        let process = &self.flow.program.processes()[process];
        let ranges = process.registers.iter().map(|it| initial_range(it.initial, it.domain));
        let ranges = ranges.collect::<Result<Vec<_>, _>>()?;
        let entry = process.entry;
        let mut next = Some(ranges.iter().map(|range| range.0).collect::<Vec<_>>());
        Ok(std::iter::from_fn(move || {
            let current = next.take()?;
            let advanced = (0..ranges.len()).rev().find(|&i| current[i] < ranges[i].1);
            next = advanced.map(|i| {
                let behind = ranges[i + 1..].iter().map(|range| range.0);
                current[..i].iter().copied().chain([current[i] + 1]).chain(behind).collect()
            });
            Some(LocalState::Here(Control::At(entry), current))
        }))
    }

    /// Every step of a process from a local state; none writes what is not among the values.
    pub(super) fn steps(&self, process: ProcessId, from: &LocalState) -> Result<Vec<(Letter, LocalState)>, Failure> {
        let out = self.offered(from)?;
        for (letter, _) in &out {
            self.check_writes(process, letter)?;
        }
        Ok(out)
    }

    /// Every step from a local state, whatever it writes.
    pub(super) fn offered(&self, from: &LocalState) -> Result<Vec<(Letter, LocalState)>, Failure> {
        let LocalState::Here(control, registers) = from else { return Ok(Vec::new()) };
        let mut out = Vec::new();
        for (next, control) in self.flow.moves(*control) {
            match next {
                Move::Fence(_, kind) => {
                    out.push((self.fence(kind), LocalState::Here(control, registers.clone())));
                }
                Move::Edge(edge) => self.steps_of_edge(edge, control, registers, &mut out)?,
            }
        }
        Ok(out)
    }

    /// What is left of a step if nothing is known of foreign locations: they hold anything, what is stored there is
    /// forgotten, and waits for nothing. What waits for the whole buffer still does.
    pub(super) fn erased(&self, letter: Letter) -> Letter {
        let is_foreign = |x: &LocationId| self.foreign.contains(x);
        match letter {
            Letter::Read(x, _) | Letter::Write(x, _) if is_foreign(&x) => Letter::Nop,
            Letter::Atomic(Atomic { mut guards, mut writes, location }) if !self.foreign.is_empty() => {
                guards.retain(|it| !is_foreign(&it.0));
                writes.retain(|it| !is_foreign(&it.0));
                let waits = match self.buffering {
                    Buffering::None => false,
                    Buffering::Fifo | Buffering::PerLocation(PsoRmw::All) => true,
                    Buffering::PerLocation(PsoRmw::Location) => !location.is_some_and(|x| is_foreign(&x)),
                };
                match guards.is_empty() && writes.is_empty() && !waits {
                    true => Letter::Nop,
                    false => Letter::Atomic(Atomic { guards, writes, location }),
                }
            }
            Letter::Nop | Letter::Read(..) | Letter::Write(..) | Letter::Fence(_) | Letter::Atomic(_) => letter,
        }
    }

    fn fence(&self, kind: FenceKind) -> Letter {
        if self.buffering.ignores(kind) { Letter::Nop } else { Letter::Fence(kind) }
    }

    fn write(&self, x: LocationId, value: Value) -> Letter {
        match self.buffering {
            Buffering::None => Letter::Atomic(Atomic { guards: Vec::new(), writes: vec![(x, value)], location: None }),
            Buffering::Fifo | Buffering::PerLocation(_) => Letter::Write(x, value),
        }
    }

    /// Every write is of a value that the certificate lists.
    fn check_writes(&self, process: ProcessId, letter: &Letter) -> Result<(), Failure> {
        match letter.writes().iter().find(|(x, value)| !self.values[*x].contains(value)) {
            None => Ok(()),
            Some((x, value)) => {
                let process = &self.flow.program.processes()[process].name;
                let x = &self.flow.program.locations()[*x].name;
                Failure::refused(format!("`{process}` can write {value} to `{x}`, which is not among its values"))
            }
        }
    }

    fn steps_of_edge(
        &self,
        edge: EdgeId,
        control: Control,
        registers: &[Value],
        out: &mut Vec<(Letter, LocalState)>,
    ) -> Result<(), Failure> {
        let local = Local::new(self.flow.program, edge);
        match &local.edge.op {
            Op::Havoc(_, lo, hi) if hi.abs_diff(*lo) >= MAX_LOCALS as u64 => {
                return Failure::refused("a register may become any of too many values");
            }
            op if op.is_local() => {
                for outcome in local.run(registers) {
                    out.push((Letter::Nop, landed(control, outcome)?));
                }
            }
            Op::Fence(kind) => out.push((self.fence(*kind), LocalState::Here(control, registers.to_vec()))),
            Op::Store(place, value) => match local.store(place, value, registers) {
                Ok((x, value)) => out.push((self.write(x, value), LocalState::Here(control, registers.to_vec()))),
                Err(stop) => out.push((Letter::Nop, landed(control, Err(stop))?)),
            },
            Op::Load(register, place) => match local.resolve(place, registers) {
                Ok(x) => {
                    for &value in &self.values[x] {
                        let outcome = local.assign(registers, *register, value);
                        out.push((Letter::Read(x, value), landed(control, outcome)?));
                    }
                }
                Err(stop) => out.push((Letter::Nop, landed(control, Err(stop))?)),
            },
            Op::Rmw { place, .. } => match local.resolve(place, registers) {
                Ok(x) => self.updates(&local, x, control, registers, out)?,
                Err(stop) => out.push((Letter::Nop, landed(control, Err(stop))?)),
            },
            Op::Locked(body) => self.blocks(&local, body, control, registers, out)?,
            Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => unreachable!("local steps came first"),
        }
        Ok(())
    }

    fn updates(
        &self,
        local: &Local<'_>,
        x: LocationId,
        control: Control,
        registers: &[Value],
        out: &mut Vec<(Letter, LocalState)>,
    ) -> Result<(), Failure> {
        for &old in &self.values[x] {
            let Some(updated) = local.update(registers, x, old) else { continue };
            let writes = updated.as_ref().ok().and_then(|it| it.new).map(|new| (x, new)).into_iter().collect();
            let letter = Letter::Atomic(Atomic { guards: vec![(x, old)], writes, location: Some(x) });
            out.push((letter, landed(control, updated.map(|it| it.registers))?));
        }
        Ok(())
    }

    /// A locked block, once for each combination of values that it may find. Locations that it does not read hold two
    /// markers in two runs: where both are still there, it has not written.
    fn blocks(
        &self,
        local: &Local<'_>,
        body: &[Micro],
        control: Control,
        registers: &[Value],
        out: &mut Vec<(Letter, LocalState)>,
    ) -> Result<(), Failure> {
        let mut read = BTreeSet::new();
        note_reads(self.flow.program, body, &mut read);
        for guards in self.valuations(&read)? {
            let run = |marker: Value| {
                let mut contents = vec![marker; self.values.len()];
                guards.iter().for_each(|(x, value)| contents[x.index()] = *value);
                run_block(local, body, Block { registers: registers.to_vec(), contents })
            };
            for (one, two) in run(0).into_iter().zip(run(1)) {
                let mut writes = Vec::new();
                if let (Ok(one), Ok(two)) = (&one, &two) {
                    let is_kept = |x: LocationId| match guards.iter().find(|guard| guard.0 == x) {
                        Some((_, value)) => one.contents[x.index()] == *value,
                        None => one.contents[x.index()] != two.contents[x.index()],
                    };
                    let changed = self.values.indices().filter(|&x| !is_kept(x));
                    writes.extend(changed.map(|x| (x, one.contents[x.index()])));
                }
                let letter = Letter::Atomic(Atomic { guards: guards.clone(), writes, location: None });
                out.push((letter, landed(control, one.map(|block| block.registers))?));
            }
        }
        Ok(())
    }

    fn valuations(&self, read: &BTreeSet<LocationId>) -> Result<Vec<Vec<(LocationId, Value)>>, Failure> {
        let mut out = vec![Vec::new()];
        for &x in read {
            let with = |found: &Vec<_>, value| [&found[..], &[(x, value)]].concat();
            out = out.iter().flat_map(|found| self.values[x].iter().map(move |&it| with(found, it))).collect();
            if out.len() > MAX_VALUATIONS {
                return Failure::refused("an `atomic` block reads too many combinations of values");
            }
        }
        Ok(out)
    }
}

impl Letter {
    /// What it writes.
    pub(super) fn writes(&self) -> Vec<(LocationId, Value)> {
        match self {
            Self::Write(x, value) => vec![(*x, *value)],
            Self::Atomic(atomic) => atomic.writes.clone(),
            Self::Nop | Self::Read(..) | Self::Fence(_) => Vec::new(),
        }
    }
}

impl fmt::Display for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nop => f.write_str("a local step"),
            Self::Read(x, value) => write!(f, "a read of {value} at location {}", x.index()),
            Self::Write(x, value) => write!(f, "a write of {value} to location {}", x.index()),
            Self::Fence(kind) => write!(f, "a {} fence", kind.name()),
            Self::Atomic(_) => f.write_str("an atomic step"),
        }
    }
}

fn landed(control: Control, outcome: Result<Vec<Value>, Stop>) -> Result<LocalState, Failure> {
    match outcome {
        Ok(registers) => Ok(LocalState::Here(control, registers)),
        Err(Stop::Fault(fault)) => Ok(LocalState::Broken(fault)),
        Err(Stop::Overflow) => Failure::refused("a value needs more than 64 bits"),
    }
}

fn note_reads(program: &Program, body: &[Micro], out: &mut BTreeSet<LocationId>) {
    for micro in body {
        match micro {
            Micro::Load(_, place) => out.extend(program.locations_of(place)),
            Micro::Choose(branches) => branches.iter().for_each(|branch| note_reads(program, branch, out)),
            Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) | Micro::Store(..) => {}
        }
    }
}
