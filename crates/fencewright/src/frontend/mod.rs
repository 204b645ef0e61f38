//! Concrete syntaxes. Every front end turns its text into the one surface tree ([`ast`]); lowering to a
//! [`Program`](crate::program::Program) is written once, over that tree, so a message about the meaning of an imported
//! program points into the imported text, and printing the tree is what `import` does.

pub mod ast;
pub mod fw;
pub mod lower;
pub mod nearest;
