//! The front ends of this command. Those of other crates are registered here.

use fencewright::frontend::{self, Frontend};

/// Every front end.
pub(crate) const ALL: &[&dyn Frontend] = frontend::ALL;
