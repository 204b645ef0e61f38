//! Fencewright finds and repairs memory-ordering bugs.
//!
//! ```text
//!       text                    what it means               how we search          what to do about it
//!   ┌──────────┐   Program   ┌──────────────┐            ┌──────────┐  Verdict  ┌─────────┐  sets  ┌────────┐
//!   │ frontend │ ──────────▶ │ memory·system│ ─────────▶ │  engine  │ ────────▶ │  synth  │ ─────▶ │ report │
//!   └──────────┘             └──────────────┘            └──────────┘           └─────────┘        └────────┘
//! ```
//!
//! The library does no I/O and never exits: it takes text and gives back values.
#![deny(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

pub mod certificate;
pub mod engine;
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
