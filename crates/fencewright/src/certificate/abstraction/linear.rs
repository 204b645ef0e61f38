//! Linear predicates: constraints on values that are named by where they are, asked of every configuration that has
//! them.

use crate::numeric::Row;
use crate::program::{LocationId, ProcessId, RegisterId};

use super::configuration::{Key, Layout};

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Site {
    /// In memory.
    Memory(LocationId),
    /// In a register of a process.
    Register(ProcessId, RegisterId),
    /// In a buffer: one of the newest stores, counted from the oldest of them.
    Newest(ProcessId, u32),
    /// In a buffer: the last of the older stores to a location.
    Last(ProcessId, LocationId),
}

/// `Σ coefficient · value ≤ bound`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Predicate {
    /// What is summed up.
    pub coefficients: Vec<(i128, Site)>,
    /// What the sum is at most.
    pub bound: i128,
}

impl Predicate {
    /// The constraint that it is in a configuration, if all of its values are there.
    pub(super) fn row(&self, at: &Key, layout: &Layout) -> Option<Row> {
        let coefficient = |&(factor, site): &(i128, Site)| Some((site.variable(at, layout)?, factor));
        Row::new(self.coefficients.iter().map(coefficient).collect::<Option<Vec<_>>>()?, self.bound)
    }
}

impl Site {
    /// The variable of a configuration that it is; `None` if there is none.
    fn variable(self, at: &Key, layout: &Layout) -> Option<usize> {
        match self {
            Self::Memory(x) => layout.location(x),
            Self::Register(process, register) => layout.find_register(process, register),
            Self::Newest(process, place) => {
                let place = at.shapes.get(process)?.newest_place(place as usize)?;
                Some(at.first_value(process, layout) + place)
            }
            Self::Last(process, x) => {
                let place = at.shapes.get(process)?.last_place(x)?;
                Some(at.first_value(process, layout) + place)
            }
        }
    }
}
