//! Who writes which location.

use crate::engine::symbolic::flow::{Act, ProcessFlow};
use crate::program::{LocationId, ProcessId, Program};
use crate::util::IndexVec;

/// For each location, the process that is the only one to write it.
pub(crate) fn sole_writers(
    program: &Program,
    flows: &IndexVec<ProcessId, ProcessFlow>,
) -> IndexVec<LocationId, Writers> {
    let mut writers = IndexVec::filled(program.locations().len(), Writers::None);
    for (process, flow) in flows.iter_enumerated() {
        for step in &flow.steps {
            let written = stored(&step.act).into_iter().chain(step.effect.memory.keys().copied());
            written.for_each(|x| writers[x] = writers[x].with(process));
        }
    }
    writers
}

/// Who writes a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writers {
    /// Nobody.
    None,
    /// Only this process.
    One(ProcessId),
    /// Several.
    Several,
}

impl Writers {
    fn with(self, process: ProcessId) -> Self {
        match self {
            Self::None => Self::One(process),
            Self::One(other) if other == process => self,
            Self::One(_) | Self::Several => Self::Several,
        }
    }

    /// Whether no other process writes it.
    pub(crate) fn is_only(self, process: ProcessId) -> bool {
        match self {
            Self::None => true,
            Self::One(writer) => writer == process,
            Self::Several => false,
        }
    }
}

/// The location that a step stores to.
pub(crate) fn stored(act: &Act) -> Option<LocationId> {
    match act {
        Act::Store(x, _) => Some(*x),
        Act::Local | Act::Load(_) | Act::Fence(_) | Act::Atomic(_) => None,
    }
}
