//! The front ends of this command. Those of other crates are registered here.

use fencewright::frontend::{Frontend, fw, litmus, rmm};
use fencewright_c::{C, Harness};
use fencewright_rust::Rust;

/// Every front end.
pub(crate) const ALL: &[&dyn Frontend] = &[&fw::Fw, &rmm::Rmm, &litmus::Litmus, &C, &Rust::ANY];

/// The front end for a text that another one would read by its ending: litmus tests in C are C.
pub(crate) fn by_text(chosen: &'static dyn Frontend, text: &str) -> &'static dyn Frontend {
    ALL.iter().copied().find(|it| it.claims(chosen.extension(), text)).unwrap_or(chosen)
}

/// The front end for a C text of which the command line says more; it lives as long as the command.
pub(crate) fn with_harness(harness: Harness) -> &'static dyn Frontend {
    Box::leak(Box::new(harness))
}

/// The front end for an entry of a Rust text; it lives as long as the command.
pub(crate) fn with_entry(rust: Rust) -> &'static dyn Frontend {
    Box::leak(Box::new(rust))
}
