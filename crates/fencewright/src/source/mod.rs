//! Text, places in it, and what is said about them. Knows no language.

mod diagnostic;
mod render;
mod text;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use render::{Style, render};
pub use text::{LineColumn, Source, Span};
