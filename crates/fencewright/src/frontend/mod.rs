//! Concrete syntaxes. Every front end turns its text into the one surface tree ([`ast`]); lowering to a
//! [`Program`](crate::program::Program) is written once, over that tree, so a message about the meaning of an imported
//! program points into the imported text, and printing the tree is what `import` does.

pub mod ast;
pub mod fw;
pub mod lower;
pub mod nearest;

use crate::source::{Diagnostic, Source};

/// Reads a `.fw` text and gives it its meaning; mistakes of form come alone, since they hide those of meaning.
pub fn parse_fw(source: &Source, defines: &[(String, i64)]) -> lower::Lowered {
    let (file, mut diagnostics) = fw::parse(source);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return lower::Lowered { program: None, diagnostics };
    }
    let mut lowered = lower::lower(source, &file, defines);
    diagnostics.append(&mut lowered.diagnostics);
    lower::Lowered { diagnostics, ..lowered }
}
