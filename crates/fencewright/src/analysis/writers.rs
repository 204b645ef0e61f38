//! Who writes what: a location that only one process writes looks the same to it whenever it loads.

use crate::program::{LocationId, Micro, Op, Place, ProcessId, Program};
use crate::util::{BitSet, Idx, IndexVec};

/// The processes that may write each location.
#[derive(Clone, Debug)]
pub struct Writers {
    of: IndexVec<LocationId, BitSet>,
}

impl Writers {
    /// The writers of all locations.
    pub fn new(program: &Program) -> Self {
        let mut writers = Self { of: IndexVec::filled(program.locations().len(), BitSet::new()) };
        for edge in program.edges() {
            match &edge.op {
                Op::Store(place, _) | Op::Rmw { place, write: Some(_), .. } => {
                    writers.add(program, edge.process, place);
                }
                Op::Locked(body) => writers.add_block(program, edge.process, body),
                Op::Rmw { write: None, .. } | Op::Load(..) | Op::Fence(_) => {}
                Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => {}
            }
        }
        writers
    }

    /// Whether another process than this one may write the location.
    pub fn has_other(&self, x: LocationId, process: ProcessId) -> bool {
        self.of[x].iter().any(|writer| writer != process.index())
    }

    /// Whether a process may write the location.
    pub fn writes(&self, process: ProcessId, x: LocationId) -> bool {
        self.of[x].contains(process.index())
    }

    fn add(&mut self, program: &Program, process: ProcessId, place: &Place) {
        for x in program.locations_of(place) {
            self.of[x].insert(process.index());
        }
    }

    fn add_block(&mut self, program: &Program, process: ProcessId, body: &[Micro]) {
        for micro in body {
            match micro {
                Micro::Store(place, _) => self.add(program, process, place),
                Micro::Choose(branches) => branches.iter().for_each(|branch| self.add_block(program, process, branch)),
                Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) | Micro::Load(..) => {}
            }
        }
    }
}
