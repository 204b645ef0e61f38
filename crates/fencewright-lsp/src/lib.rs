//! The language server: what an editor shows of a program while it is written.
//!
//! ```text
//!   editor ── message ──▶ server ──▶ document: read at once ─────────────────▶ mistakes
//!                           │            ╰──▶ check, in a thread of its own ──▶ the violation, where it is
//!                           ╰── question ──▶ hover, definition, format, the missing fences
//! ```
//!
//! A text that changes stops the check of the old one. The library decides everything; here is only what editors and
//! their protocol need.

mod check;
mod document;
mod fences;
mod files;
mod hover;
mod position;
mod server;
mod stdio;

pub use server::{Settings, serve};
pub use stdio::{Threads, stdio};
