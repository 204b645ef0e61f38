//! Text, places in it, and what is said about them. Knows no language.
//!
//! A [`Source`] is the text of a program, in one file or several; a [`Span`] is a place in it and says in which file it
//! is. Files are opened by whoever calls the library ([`Files`]).

mod diagnostic;
mod file;
mod files;
mod render;
mod text;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use file::{LineColumn, SourceFile, path_of};
pub use files::{Files, NoFiles, Opened, beside};
pub use render::{Style, printable, render};
pub use text::{Source, Span};
