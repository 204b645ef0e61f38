//! Fencewright finds and repairs memory-ordering bugs.
//!
//! ```text
//!       text                    what it means               how we search          what to do about it
//!   ┌──────────┐   Program   ┌──────────────┐            ┌──────────┐  Verdict  ┌─────────┐  sets  ┌────────┐
//!   │ frontend │ ──────────▶ │ memory·system│ ─────────▶ │  engine  │ ────────▶ │  synth  │ ─────▶ │ report │
//!   └──────────┘             └──────────────┘            └──────────┘           └─────────┘        └────────┘
//! ```
//!
//! The library does no I/O and never exits: it takes text and gives back values. [`parse`], [`check`] and [`fence`] are
//! the short way in:
//!
//! ```
//! use fencewright::{Model, Verdict, check, fence, parse};
//!
//! let program = parse("peterson.fw", include_str!("../../../examples/peterson.fw"))?;
//! assert!(matches!(check(&program, Model::Tso)?.verdict, Verdict::Unsafe(_)));
//! for set in &fence(&program, Model::Tso)?.sets {
//!     let repaired = set.patched(&program)?;
//!     assert!(matches!(check(&repaired.program, Model::Tso)?.verdict, Verdict::Safe));
//!     println!("{}", repaired.diff.expect("the program is in the language `.fw`"));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

pub mod analysis;
mod ask;
pub mod certificate;
pub mod engine;
pub mod expectation;
pub mod frontend;
pub mod memory;
pub mod numeric;
pub mod program;
pub mod prove;
pub mod report;
pub mod source;
pub mod synth;
pub mod system;
pub mod translate;
pub mod util;
pub mod watch;

pub use ask::{Mistakes, Repair, Repairs, check, fence, parse, parse_by};
pub use engine::Verdict;
pub use memory::Model;

/// The examples of the page on the library are tried with those of this documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryPage;
