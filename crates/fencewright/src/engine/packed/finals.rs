//! Where runs end: the final states that a search comes by, and what goes wrong on the way.
//!
//! A search that collects them goes on whatever it finds. A run that goes wrong has no final state, and goes no
//! further. What is seen of a final state must be seen by a property of the program, too: that is what keeps the
//! reductions from leaving it out.

use std::collections::BTreeSet;

use crate::engine::packed::component::Component;
use crate::engine::packed::expand::{Badness, Expander};
use crate::program::{StateVar, Value};
use crate::system::{Fault, Violation};

/// The final states that a search came by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finals {
    /// What is seen of them.
    shown: Vec<StateVar>,
    /// The values of what is seen.
    pub values: BTreeSet<Vec<Value>>,
    /// What goes wrong in runs that do not get there.
    pub faults: BTreeSet<Fault>,
    /// Whether a value was met that the tool cannot hold.
    pub has_overflown: bool,
}

impl Finals {
    /// None yet.
    pub(crate) fn new(shown: &[StateVar]) -> Self {
        Self { shown: shown.to_vec(), ..Self::default() }
    }

    /// Looks at a state.
    pub(super) fn note<C: Component>(&mut self, expander: &mut Expander<'_, C>, state: &[u32]) {
        match expander.broken(state) {
            Some(Badness::Violation(Violation::Fault(fault))) => drop(self.faults.insert(fault)),
            Some(Badness::Violation(Violation::Property(_))) => {}
            Some(Badness::Overflow) => self.has_overflown = true,
            None => self.values.extend(expander.final_values(state, &self.shown)),
        }
    }
}
