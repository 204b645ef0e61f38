//! C programs: a preprocessor, a parser, and what C11 atomics and threads mean.

mod ast;
mod constant;
mod headers;
mod lexer;
mod operator;
mod parser;
mod place;
mod preprocess;
mod read;
mod token;
