//! The tests of the command, in one binary, so that it is linked once: a file for each matter.

mod cargo;
mod hostile;
mod limits;
mod lsp;
mod pairs;
mod process;
mod repairs;
mod results;
mod sarif;
mod transcripts;
mod wrong_inputs;
