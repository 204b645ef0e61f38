//! The front ends of this command. Those of other crates are registered here.

use fencewright::frontend::{Frontend, fw, litmus, rmm};
use fencewright_c::C;

/// Every front end.
pub(crate) const ALL: &[&dyn Frontend] = &[&fw::Fw, &rmm::Rmm, &litmus::Litmus, &C];
