//! The front ends of this command. Those of other crates are registered here.

use fencewright::frontend::{Frontend, fw, litmus, rmm};
use fencewright_c::{C, Harness, is_c_litmus};
use fencewright_rust::Rust;

/// Every front end.
pub(crate) const ALL: &[&dyn Frontend] = &[&fw::Fw, &rmm::Rmm, &litmus::Litmus, &C, &Rust::ANY];

/// The front end for a text that another one would read by its ending: litmus tests in C are C.
pub(crate) fn by_text(chosen: &'static dyn Frontend, text: &str) -> &'static dyn Frontend {
    if chosen.name() == litmus::Litmus.name() && is_c_litmus(text) { &C } else { chosen }
}

/// The front end for a C text whose threads are named on the command line; it lives as long as the command.
pub(crate) fn with_threads(harness: Harness) -> &'static dyn Frontend {
    Box::leak(Box::new(harness))
}

/// The front end for an entry of a Rust text; it lives as long as the command.
pub(crate) fn with_entry(rust: Rust) -> &'static dyn Frontend {
    Box::leak(Box::new(rust))
}
