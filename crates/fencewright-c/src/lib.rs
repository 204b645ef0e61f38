//! C programs: a preprocessor, a parser, and what C11 atomics and threads mean.

mod ast;
