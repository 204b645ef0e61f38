//! `schema`: the JSON schema of `--format json`.

use fencewright::report::SCHEMA;

use crate::code::Code;
use crate::console::Console;

/// Prints the schema.
pub(crate) fn run(console: &mut Console) -> Code {
    console.say(SCHEMA);
    Code::Good
}
