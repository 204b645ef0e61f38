//! Warnings: what is declared and not used, what cannot be reached, and a file that checks nothing.

use std::collections::BTreeMap;

use crate::frontend::ast::{self, ItemKind};
use crate::source::{Diagnostic, Span};

use super::body::Lowering;
use super::globals::{Global, Globals};
use super::log::Log;
use super::properties::Uses;
use super::registers::{Origin, Register};

/// Says all warnings about a file as a whole.
pub(super) fn warn(log: &mut Log, file: &ast::File, globals: &Globals<'_>, bodies: &[Lowering], uses: &Uses) {
    for (name, global, span) in globals.iter() {
        let is_silent = name.starts_with('_') || matches!(global, Global::Thread(_) | Global::Wrong);
        // What an included file offers need not be used.
        if !is_silent && !log.used.contains(name) && log.is_in_main(span) {
            let message = format!("{} `{name}` is never used", &global.kind().trim_start_matches("a "));
            log.say(Diagnostic::warning(span, message).with_help("leave it out, or begin its name with `_`"));
        }
    }
    registers(log, bodies, uses);
    unreachable(log, bodies);
    let has_property = file.items.iter().any(|item| match &item.kind {
        ItemKind::Forbid(_) | ItemKind::Hang(_) => true,
        // Plain data is asked for races.
        ItemKind::Shared(it) => it.is_plain,
        ItemKind::Const(_) | ItemKind::ConstArray(_) | ItemKind::Enum(_) | ItemKind::Thread(_) => false,
        ItemKind::Function(_) | ItemKind::Predicate(_) | ItemKind::Include(_) => false,
    });
    if !has_property && !log.has_assert {
        let help = "add a property, `forbid P@bad;`, or an `assert`; ranges and indices are checked anyway";
        log.say(Diagnostic::warning(Span::new(0, 0), "nothing to check").with_help(help));
    }
}

/// A register that no copy of its text reads.
fn registers(log: &mut Log, bodies: &[Lowering], uses: &Uses) {
    let mut is_read: BTreeMap<Span, (bool, &Register)> = BTreeMap::new();
    let is_told = |it: &&Register| matches!(it.origin, Origin::Let | Origin::Inlined) && !it.name.starts_with('_');
    for (i, body) in bodies.iter().enumerate() {
        for register in body.registers.iter().filter(is_told) {
            let is_named = uses.contains(&(i, register.name.clone()));
            is_read.entry(register.span).or_insert((false, register)).0 |= register.is_read || is_named;
        }
    }
    for (span, (_, register)) in is_read.into_iter().filter(|(_, it)| !it.0) {
        let message = format!("register `{}` is never read", register.name);
        log.say(Diagnostic::warning(span, message).with_help("leave it out, or begin its name with `_`"));
    }
}

fn unreachable(log: &mut Log, bodies: &[Lowering]) {
    for &span in bodies.iter().flat_map(|it| &it.notes.dead) {
        if bodies.iter().all(|it| !it.notes.live.contains(&span)) {
            let help = "leave it out, or put a label before it that a `goto` names";
            log.say(Diagnostic::warning(span, "this statement is never reached").with_help(help));
        }
    }
}
