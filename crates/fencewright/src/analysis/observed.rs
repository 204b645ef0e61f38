//! What properties see of a process: a step they see must not be run ahead of others.

use crate::program::{Op, PointId, ProcessId, Program, PropertyKind, RegisterId, Situation, StateVar};
use crate::system::{Control, Flow, Move};
use crate::util::{BitSet, Idx, IndexVec};

/// What properties see.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Points that a property names that looks before a process has ended.
    points: BitSet,
    /// Registers that a property reads while the process may be anywhere.
    registers: IndexVec<ProcessId, BitSet>,
    /// Registers that some property reads: never dead.
    kept: IndexVec<ProcessId, BitSet>,
    /// Processes whose pending stores a final property sees although they need not have ended.
    buffers: BitSet,
}

impl Observed {
    /// What the properties of a program see.
    pub fn new(program: &Program) -> Self {
        let none = || IndexVec::filled(program.processes().len(), BitSet::new());
        let mut observed = Self { points: BitSet::new(), registers: none(), kept: none(), buffers: BitSet::new() };
        for property in program.properties() {
            for situation in &property.situations {
                observed.add_registers(situation);
                match property.kind {
                    // A store into a buffer, and a load, leave memory proper as it is.
                    PropertyKind::Control | PropertyKind::Invariant | PropertyKind::Race | PropertyKind::Robust => {
                        observed.add_points(situation);
                    }
                    PropertyKind::Final => observed.add_buffers(program, situation),
                    PropertyKind::Hang => {
                        observed.add_points(situation);
                        observed.add_buffers(program, situation);
                    }
                    // It has no situations.
                    PropertyKind::Trace => {}
                }
            }
        }
        observed
    }

    /// A register of a process that is pinned to points matters only there, and leaving them is seen anyway.
    fn add_registers(&mut self, situation: &Situation) {
        situation.condition.for_each_var(&mut |variable| match variable {
            StateVar::Register(process, register) => {
                self.kept[*process].insert(register.index());
                if !is_pinned(situation, *process) {
                    self.registers[*process].insert(register.index());
                }
            }
            StateVar::Memory(_) => {}
        });
    }

    fn add_points(&mut self, situation: &Situation) {
        for point in situation.at.iter().flat_map(|(_, points)| points) {
            self.points.insert(point.index());
        }
    }

    fn add_buffers(&mut self, program: &Program, situation: &Situation) {
        for process in program.processes().indices().filter(|&process| !is_pinned(situation, process)) {
            self.buffers.insert(process.index());
        }
    }

    /// Whether a property looks at this point.
    pub fn sees_point(&self, point: PointId) -> bool {
        self.points.contains(point.index())
    }

    /// Whether a property can tell that a process is here.
    pub fn sees_control(&self, control: Control) -> bool {
        match control {
            Control::At(point) => self.sees_point(point),
            Control::Ready(_) | Control::Done(_) => false,
        }
    }

    /// Whether a property can tell that a move changed a register.
    pub fn sees(&self, flow: &Flow<'_>, process: ProcessId, next: Move) -> bool {
        match next {
            Move::Fence(..) => false,
            Move::Edge(edge) => match &flow.program.edges()[edge].op {
                Op::Assign(register, _) | Op::Havoc(register, ..) | Op::Load(register, _) => {
                    self.registers[process].contains(register.index())
                }
                Op::Rmw { .. } | Op::Locked(_) => true,
                Op::Assume(_) | Op::Assert(_) | Op::Store(..) | Op::Fence(_) => false,
            },
        }
    }

    /// Whether a final property can tell that the process has a store pending.
    pub fn sees_buffer(&self, process: ProcessId) -> bool {
        self.buffers.contains(process.index())
    }

    /// Whether some property reads this register.
    pub fn keeps(&self, process: ProcessId, register: RegisterId) -> bool {
        self.kept[process].contains(register.index())
    }
}

fn is_pinned(situation: &Situation, process: ProcessId) -> bool {
    situation.at.iter().any(|(named, _)| *named == process)
}
