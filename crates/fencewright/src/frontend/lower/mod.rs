//! From the surface tree to the typed tree: names, types, constants, copies.
//!
//! ```text
//!   File ─▶ globals (constants, shared variables, members) ─▶ body of each member ─▶ properties ─▶ Unit ─▶ Program
//! ```
//!
//! All mistakes are reported in one run; what depends on a mistake is silent.

mod any_index;
mod any_number;
mod arrays;
mod atomic;
mod body;
mod branches;
mod calls;
mod constants;
mod expressions;
mod globals;
mod labels;
mod live;
mod log;
mod orders;
mod properties;
mod property_conditions;
mod property_counts;
mod property_words;
mod registers;
mod shared;
mod statements;
#[cfg(test)]
mod tests;
mod twice;
mod typed;
mod unused;
mod updates;

use crate::frontend::{Lowered, ast, hir, said::Said};
use crate::source::{Diagnostic, Source, Span};
use crate::util::Idx;

use body::{Lowering, check_function, lower_member};
use globals::Globals;
use log::Log;
use registers::Origin;

/// Gives a file its meaning. `defines` are the constants that the command line gives other values.
pub fn lower(source: &Source, file: &ast::File, defines: &[(String, i64)]) -> Lowered {
    let once = |file: &ast::File| lower_once(source, file, defines);
    let Some(n) = any_index::constant(file) else { return once(file) };
    match defines.iter().rev().find(|it| it.0 == n) {
        Some(given) => once(&any_index::with_value(file, n, given.1)),
        None => any_index::lower(file, n, once),
    }
}

/// Gives a file in which all constants have a value its meaning.
fn lower_once(source: &Source, file: &ast::File, defines: &[(String, i64)]) -> Lowered {
    let mut log = Log::new(Said::new(source));
    let mut unit = hir::Unit::new();
    let globals = Globals::collect(&mut log, &mut unit, file, defines);
    let mut members: Vec<Lowering> =
        globals.members.iter().map(|it| lower_member(&globals, &unit, &mut log, it)).collect();
    for function in globals.functions() {
        if !log.used.contains(&function.name.text) {
            check_function(&globals, &unit, &mut log, function);
        }
    }
    let uses = properties::lower(&mut log, &mut unit, file, &properties::Known::new(&globals, &members));
    for (member, lowering) in globals.members.iter().zip(&mut members) {
        unit.thread(lowering.thread(member));
    }
    let outcome = hir::lower_all(&mut log.said, unit);
    for it in &outcome.unbounded {
        report_unbounded(&mut log, &members[it.thread.index()].registers[it.local], it.grows);
    }
    if file.items.iter().all(|item| !matches!(item.kind, ast::ItemKind::Thread(_))) {
        log.error(Span::new(0, 0), "the file has no thread", "add one: `thread T { … }`");
    }
    unused::warn(&mut log, file, &globals, &members, &uses);
    log.said.into_lowered(outcome.builder)
}

/// Reports a register that grows without end.
fn report_unbounded(log: &mut Log, register: &registers::Register, grows: Span) {
    let annotated = match register.origin {
        Origin::Let | Origin::Inlined => {
            let rest = Span::new(register.span.end, register.statement.end.max(register.span.end));
            let rest = log.text(rest);
            let rest = if rest.contains('=') { format!(" {rest}") } else { rest };
            format!("let {}: 0..7{rest}", register.name)
        }
        Origin::Parameter | Origin::Temporary => format!("{}: 0..7", register.name),
    };
    let help = format!(
        "give it one: `{annotated}` (a value outside is then reported as a violation), or `int` for unbounded integers"
    );
    let message = format!("cannot infer a finite range for `{}`", register.name);
    log.say(Diagnostic::error(register.span, message).and_at(grows, "it grows here").with_help(help));
}
