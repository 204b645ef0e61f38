//! How many threads work where nothing is said.

use std::num::NonZero;
use std::sync::OnceLock;
use std::thread::available_parallelism;

/// All cores that the system grants. It has to read files for that, so it is asked once.
pub(crate) fn n_cores() -> usize {
    static FOUND: OnceLock<usize> = OnceLock::new();
    *FOUND.get_or_init(|| available_parallelism().map_or(1, NonZero::get))
}
