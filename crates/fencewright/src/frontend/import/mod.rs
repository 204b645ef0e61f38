//! What the importers share: tokens, a place in them, the building of trees, and names that `.fw` allows.

pub(super) mod cursor;
pub(super) mod expansion;
pub(super) mod lexer;
pub(super) mod names;
#[cfg(test)]
pub(super) mod testing;
pub(super) mod tree;
