//! `engines`: who can search, and what can be switched off.

use fencewright::engine;

use crate::code::Code;
use crate::console::Console;

/// Lists the engines and their reductions.
pub fn run(console: &mut Console) -> Code {
    let mut out = String::new();
    for engine in engine::ALL {
        out += &format!("{}\n    {}\n", engine.name(), engine.about());
        for reduction in engine.reductions() {
            out += &format!("    --without {:<16} {}\n", reduction.name, reduction.about);
        }
    }
    console.say(&out);
    Code::Good
}
