//! What is said of release/acquire beside a verdict.

use crate::engine::data_race::RACE;
use crate::program::Program;

/// What `safe` rests on: plain data is accessed as any other, which is what the language says until it races.
pub(super) fn assumed(program: &Program, question: &str) -> Option<String> {
    match (program.plain().is_empty(), question == RACE) {
        (true, true) => Some("no plain data: nothing can race".to_owned()),
        (false, false) => Some("as long as plain data does not race, which `--ask race` tells".to_owned()),
        (true, false) | (false, true) => None,
    }
}
