//! Registers that no longer matter, whose values are forgotten so that there are fewer configurations.
//!
//! A register is *dead* at a point if, on every way from there, it is written before anything looks at it, and no
//! property looks at it. What the process does, what others see, and whether a property holds is then the same whatever
//! it holds.

use std::collections::BTreeSet;

use crate::program::{Micro, Op, Place, PointId, ProcessId, Program, RegisterId, RmwVar, StateVar};
use crate::system::Control;
use crate::util::{Idx, IndexVec};

use super::locals::LocalState;

/// The registers that matter at each point.
pub(super) struct Live {
    at: IndexVec<PointId, BTreeSet<RegisterId>>,
    /// Where the edges lead, for control behind an operation.
    targets: Vec<PointId>,
    /// Those that properties look at.
    observed: BTreeSet<(ProcessId, RegisterId)>,
    n_registers: IndexVec<ProcessId, usize>,
}

impl Live {
    pub(super) fn new(program: &Program) -> Self {
        let mut at: IndexVec<PointId, BTreeSet<RegisterId>> = IndexVec::filled(program.points().len(), BTreeSet::new());
        let mut has_grown = true;
        while has_grown {
            has_grown = false;
            for edge in program.edges() {
                let mut live = at[edge.to].clone();
                let (killed, used) = accesses(&edge.op);
                live.retain(|register| killed != Some(*register));
                live.extend(used);
                let n_before = at[edge.from].len();
                at[edge.from].extend(live);
                has_grown |= at[edge.from].len() > n_before;
            }
        }
        let mut observed = BTreeSet::new();
        for situation in program.properties().iter().flat_map(|property| &property.situations) {
            situation.condition.for_each_var(&mut |it| match it {
                StateVar::Register(process, register) => drop(observed.insert((*process, *register))),
                StateVar::Memory(_) => {}
            });
        }
        let targets = program.edges().iter().map(|edge| edge.to).collect();
        let n_registers = program.processes().iter().map(|process| process.registers.len()).collect();
        Self { at, targets, observed, n_registers }
    }

    /// The registers of a process that are dead while it is there.
    pub(super) fn dead(&self, process: ProcessId, control: Control) -> impl Iterator<Item = RegisterId> + '_ {
        let point = match control {
            Control::At(point) => Some(point),
            Control::Done(edge) => Some(self.targets[edge.index()]),
            // The edge is still to come.
            Control::Ready(_) => None,
        };
        let registers = (0..self.n_registers[process]).map(RegisterId::from_usize);
        registers.filter(move |register| {
            let is_live = point.is_none_or(|point| self.at[point].contains(register));
            !is_live && !self.observed.contains(&(process, *register))
        })
    }
}

impl Live {
    /// A local state in which the registers that are dead hold 0.
    pub(super) fn kept(&self, process: ProcessId, state: LocalState) -> LocalState {
        match state {
            LocalState::Here(control, mut registers) => {
                self.dead(process, control).for_each(|register| registers[register.index()] = 0);
                LocalState::Here(control, registers)
            }
            LocalState::Broken(fault) => LocalState::Broken(fault),
        }
    }
}

/// The registers that an operation overwrites without looking, and those that it looks at.
fn accesses(op: &Op) -> (Option<RegisterId>, Vec<RegisterId>) {
    let mut used = Vec::new();
    let place = |place: &Place, used: &mut Vec<RegisterId>| match place {
        Place::Fixed(_) => {}
        Place::Cell(_, index) => index.for_each_var(&mut |it| used.push(*it)),
    };
    let killed = match op {
        Op::Assume(condition) | Op::Assert(condition) => {
            condition.for_each_var(&mut |it| used.push(*it));
            None
        }
        Op::Assign(register, value) => {
            value.for_each_var(&mut |it| used.push(*it));
            Some(*register)
        }
        Op::Havoc(register, ..) => Some(*register),
        Op::Load(register, from) => {
            place(from, &mut used);
            Some(*register)
        }
        Op::Store(to, value) => {
            place(to, &mut used);
            value.for_each_var(&mut |it| used.push(*it));
            None
        }
        Op::Rmw { place: at, guard, write, into } => {
            place(at, &mut used);
            for expr in [Some(guard), write.as_ref()].into_iter().flatten() {
                expr.for_each_var(&mut |it| match it {
                    RmwVar::Register(register) => used.push(*register),
                    RmwVar::Old => {}
                });
            }
            *into
        }
        Op::Fence(_) => None,
        Op::Locked(body) => {
            body.iter().for_each(|micro| used.extend(mentioned(micro)));
            None
        }
    };
    (killed, used)
}

/// Every register that a part of a locked block mentions.
fn mentioned(micro: &Micro) -> Vec<RegisterId> {
    let mut out = Vec::new();
    let place = |place: &Place, out: &mut Vec<RegisterId>| match place {
        Place::Fixed(_) => {}
        Place::Cell(_, index) => index.for_each_var(&mut |it| out.push(*it)),
    };
    match micro {
        Micro::Assume(condition) | Micro::Assert(condition) => condition.for_each_var(&mut |it| out.push(*it)),
        Micro::Assign(register, value) => {
            value.for_each_var(&mut |it| out.push(*it));
            out.push(*register);
        }
        Micro::Havoc(register, ..) => out.push(*register),
        Micro::Load(register, from) => {
            place(from, &mut out);
            out.push(*register);
        }
        Micro::Store(to, value) => {
            place(to, &mut out);
            value.for_each_var(&mut |it| out.push(*it));
        }
        Micro::Choose(branches) => out.extend(branches.iter().flatten().flat_map(mentioned)),
    }
    out
}
