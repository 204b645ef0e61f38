//! Warnings: what is declared and not used, what cannot be reached, and a file that checks nothing.

use std::collections::BTreeMap;

use crate::frontend::ast::{self, ItemKind};
use crate::source::{Diagnostic, Span};
use crate::util::IndexVec;

use super::body::Notes;
use super::cfg::{Cfg, Origin, Slot};
use super::globals::{Global, Globals};
use super::log::Log;
use super::properties::Uses;

/// Says all warnings about a file as a whole.
pub(super) fn warn(log: &mut Log, file: &ast::File, globals: &Globals<'_>, bodies: &[(Cfg, Notes)], uses: &Uses) {
    for (name, global, span) in globals.iter() {
        let is_silent = name.starts_with('_') || matches!(global, Global::Thread(_) | Global::Wrong);
        if !is_silent && !log.used.contains(name) {
            let message = format!("{} `{name}` is never used", &global.kind().trim_start_matches("a "));
            log.say(Diagnostic::warning(span, message).with_help("leave it out, or begin its name with `_`"));
        }
    }
    registers(log, bodies, uses);
    unreachable(log, bodies);
    let has_property = file.items.iter().any(|item| matches!(item.kind, ItemKind::Forbid(_)));
    if !has_property && !log.has_assert {
        let help = "add a property, `forbid P@bad;`, or an `assert`; ranges and indices are checked anyway";
        log.say(Diagnostic::warning(Span::new(0, 0), "nothing to check").with_help(help));
    }
}

/// A register that no copy of its text reads.
fn registers(log: &mut Log, bodies: &[(Cfg, Notes)], uses: &Uses) {
    let mut is_read: BTreeMap<Span, (bool, &Slot)> = BTreeMap::new();
    for (i, (cfg, _)) in bodies.iter().enumerate() {
        let slots: &IndexVec<_, Slot> = &cfg.slots;
        for slot in
            slots.iter().filter(|it| matches!(it.origin, Origin::Let | Origin::Inlined) && !it.name.starts_with('_'))
        {
            let is_named = uses.contains(&(i, slot.name.clone()));
            is_read.entry(slot.span).or_insert((false, slot)).0 |= slot.is_read || is_named;
        }
    }
    for (span, (_, slot)) in is_read.into_iter().filter(|(_, it)| !it.0) {
        let message = format!("register `{}` is never read", slot.name);
        log.say(Diagnostic::warning(span, message).with_help("leave it out, or begin its name with `_`"));
    }
}

fn unreachable(log: &mut Log, bodies: &[(Cfg, Notes)]) {
    for &span in bodies.iter().flat_map(|it| &it.1.dead) {
        if bodies.iter().all(|it| !it.1.live.contains(&span)) {
            let help = "leave it out, or put a label before it that a `goto` names";
            log.say(Diagnostic::warning(span, "this statement is never reached").with_help(help));
        }
    }
}
