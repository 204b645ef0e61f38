//! Live registers: a register that is never read again does not distinguish states.
//!
//! The usual backward fixpoint over the control flow of each process. Registers that a property reads are always live.

use crate::analysis::Observed;
use crate::program::{EdgeId, Expr, Micro, Op, Place, PointId, ProcessId, Program, RegisterId, RmwVar, Value};
use crate::system::Control;
use crate::util::{BitSet, Idx, IndexVec};

/// Which registers are live, and what dead ones are reset to.
#[derive(Clone, Debug)]
pub struct LiveRegisters {
    at: IndexVec<PointId, BitSet>,
    before: IndexVec<EdgeId, BitSet>,
    to: IndexVec<EdgeId, PointId>,
    /// A value of each register's domain.
    rest: IndexVec<ProcessId, Vec<Value>>,
}

impl LiveRegisters {
    /// The live registers of all processes.
    pub fn new(program: &Program, observed: &Observed) -> Self {
        let kept = |process: ProcessId| -> BitSet {
            let registers = program.processes()[process].registers.indices();
            registers.filter(|&register| observed.keeps(process, register)).map(Idx::index).collect()
        };
        let mut at: IndexVec<PointId, BitSet> = program.points().iter().map(|point| kept(point.process)).collect();
        let mut before = IndexVec::filled(program.edges().len(), BitSet::new());
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for (id, edge) in program.edges().iter_enumerated().rev() {
                before[id] = before_op(&edge.op, at[edge.to].clone());
                has_changed |= at[edge.from].union_with(&before[id]);
            }
        }
        let rest = program.processes().iter().map(|process| {
            let resting =
                |register: &crate::program::Register| register.domain.bounds().map_or(0, |(lo, hi)| 0.clamp(lo, hi));
            process.registers.iter().map(resting).collect()
        });
        let to = program.edges().iter().map(|edge| edge.to).collect();
        Self { at, before, to, rest: rest.collect() }
    }

    /// Whether a register may be read again from a point on, before it is written.
    pub fn is_live(&self, point: PointId, register: RegisterId) -> bool {
        self.at[point].contains(register.index())
    }

    /// What a dead register is reset to.
    pub fn resting(&self, process: ProcessId, register: RegisterId) -> Value {
        self.rest[process][register.index()]
    }

    /// Gives every dead register its resting value.
    pub fn reset_dead(&self, process: ProcessId, control: Control, registers: &mut [Value]) {
        let live = match control {
            Control::At(point) => &self.at[point],
            Control::Ready(edge) => &self.before[edge],
            Control::Done(edge) => &self.at[self.to[edge]],
        };
        for (i, (value, &rest)) in registers.iter_mut().zip(&self.rest[process]).enumerate() {
            if !live.contains(i) {
                *value = rest;
            }
        }
    }
}

/// What is live before an operation, given what is live after it.
fn before_op(op: &Op, mut live: BitSet) -> BitSet {
    match op {
        Op::Assume(expr) | Op::Assert(expr) => uses(expr, &mut live),
        Op::Assign(register, expr) => {
            live.remove(register.index());
            uses(expr, &mut live);
        }
        Op::Havoc(register, ..) => live.remove(register.index()),
        Op::Load(register, place) => {
            live.remove(register.index());
            uses_of_place(place, &mut live);
        }
        Op::Store(place, expr) => {
            uses_of_place(place, &mut live);
            uses(expr, &mut live);
        }
        Op::Rmw { place, guard, write, into } => {
            if let Some(register) = into {
                live.remove(register.index());
            }
            uses_of_place(place, &mut live);
            std::iter::once(guard).chain(write).for_each(|expr| uses_of_rmw(expr, &mut live));
        }
        Op::Fence(_) => {}
        Op::Locked(body) => live = before_block(body, live),
    }
    live
}

fn before_block(body: &[Micro], live: BitSet) -> BitSet {
    body.iter().rev().fold(live, |live, micro| before_micro(micro, live))
}

fn before_micro(micro: &Micro, mut live: BitSet) -> BitSet {
    match micro {
        Micro::Assume(expr) | Micro::Assert(expr) => uses(expr, &mut live),
        Micro::Assign(register, expr) => {
            live.remove(register.index());
            uses(expr, &mut live);
        }
        Micro::Havoc(register, ..) => live.remove(register.index()),
        Micro::Load(register, place) => {
            live.remove(register.index());
            uses_of_place(place, &mut live);
        }
        Micro::Store(place, expr) => {
            uses_of_place(place, &mut live);
            uses(expr, &mut live);
        }
        Micro::Choose(branches) => {
            let mut before = BitSet::new();
            for branch in branches {
                before.union_with(&before_block(branch, live.clone()));
            }
            live = before;
        }
    }
    live
}

fn uses(expr: &Expr<RegisterId>, live: &mut BitSet) {
    expr.for_each_var(&mut |register| {
        live.insert(register.index());
    });
}

fn uses_of_rmw(expr: &Expr<RmwVar>, live: &mut BitSet) {
    expr.for_each_var(&mut |variable| {
        if let RmwVar::Register(register) = variable {
            live.insert(register.index());
        }
    });
}

fn uses_of_place(place: &Place, live: &mut BitSet) {
    match place {
        Place::Fixed(_) => {}
        Place::Cell(_, index) => uses(index, live),
    }
}
