//! The `.fw` language: its reader and its formatter.
//!
//! ```
//! use fencewright::{frontend::fw, source::Source};
//!
//! let source = Source::new("t.fw", "thread T{x=1;while x==0{}}  shared x : 0 .. 1;");
//! let text = fw::format(&source).expect("the program is well-formed");
//! assert_eq!(text, "thread T {\n    x = 1;\n    while (x == 0) {}\n}\nshared x: 0..1;\n");
//! ```

mod include;
mod lexer;
mod parser;
mod precedence;
mod printer;
mod rewrite;
#[cfg(test)]
mod tests;
mod token;

pub use parser::parse;
pub use printer::print;

use crate::frontend::rewrite::Rewrite;
use crate::frontend::{Frontend, Input, Read};
use crate::source::{Diagnostic, Source};

/// The front end for `.fw` files.
#[derive(Clone, Copy, Debug)]
pub struct Fw;

impl Frontend for Fw {
    fn name(&self) -> &'static str {
        "fw"
    }

    fn about(&self) -> &'static str {
        "the language of this tool"
    }

    fn read(&self, input: &mut Input<'_>) -> Read {
        include::read(input)
    }

    fn rewrite(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }
}

/// Whether a word is reserved, so that nothing can be named so.
pub(in crate::frontend) fn is_reserved(word: &str) -> bool {
    token::Keyword::from_text(word).is_some()
}

/// The text in its canonical layout.
///
/// # Errors
/// What is wrong with the text, if it cannot be read.
pub fn format(source: &Source) -> Result<String, Vec<Diagnostic>> {
    let (file, diagnostics) = parse(source);
    if diagnostics.iter().any(Diagnostic::is_error) { Err(diagnostics) } else { Ok(print(&file)) }
}
