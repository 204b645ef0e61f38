//! `engines`: who can search, what each may be told, and what can be switched off.

use fencewright::engine;

use crate::code::Code;
use crate::console::Console;

/// Lists the engines, their settings and their reductions.
pub(crate) fn run(console: &mut Console) -> Code {
    let mut out = String::new();
    for engine in engine::ALL {
        let card = engine.card();
        out += &format!("{}\n    {}\n", card.name, card.about);
        for setting in card.settings {
            let flag = format!("--{} {}", setting.flag, setting.value_name);
            out += &format!("    {flag:<26} {}\n", setting.about);
        }
        for reduction in card.reductions {
            out += &format!("    --without {:<16} {}\n", reduction.name, reduction.about);
        }
    }
    console.say(&out);
    Code::Good
}
