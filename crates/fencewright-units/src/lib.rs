//! Nothing but a home for the test target `units`: the tests inside the library's files, built apart from it.
//!
//! ```text
//!   crates/fencewright/src ──┬── fencewright, optimized ──▶ laws, suite, commands
//!                            └── units, built quickly ────▶ #[test] inside the files
//! ```
