//! From the surface tree to a program: names, types, constants, ranges, control flow.
//!
//! ```text
//!   File ─▶ globals (constants, shared variables, members) ─▶ body of each member ─▶ automaton (cfg)
//!        ─▶ ranges inferred ─▶ emitted to the builder ─▶ properties over its points and registers
//! ```
//!
//! All mistakes are reported in one run; what depends on a mistake is silent.

mod atomic;
mod body;
mod calls;
mod cfg;
mod conditions;
mod constants;
mod emit;
mod expressions;
mod globals;
mod intervals;
mod labels;
mod log;
mod properties;
mod ranges;
mod shared;
mod situations;
mod state;
mod statements;
#[cfg(test)]
mod tests;
mod typed;
mod unused;
mod updates;

use crate::frontend::ast;
use crate::program::{Builder, Program};
use crate::source::{Diagnostic, Source, Span};

use body::{Notes, check_function, lower_member};
use cfg::Cfg;
use globals::Globals;
use log::Log;

/// What lowering makes of a file.
#[derive(Debug)]
pub struct Lowered {
    /// The program; present exactly if there is no error.
    pub program: Option<Program>,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The text, with all files that were read for it.
    pub source: Source,
}

/// Gives a file its meaning. `defines` are the constants that the command line gives other values.
pub fn lower(source: &Source, file: &ast::File, defines: &[(String, i64)]) -> Lowered {
    let mut log = Log::new(source);
    let mut builder = Builder::new(source.clone());
    let globals = Globals::collect(&mut log, &mut builder, file, defines);
    let mut bodies = bodies(&mut log, &builder, &globals);
    for (cfg, _) in &mut bodies {
        cfg.simplify();
    }
    let domains: Vec<_> = bodies.iter().map(|(cfg, _)| ranges::infer(&mut log, builder.so_far(), cfg)).collect();
    let mut processes = Vec::new();
    for (i, (cfg, _)) in bodies.iter().enumerate() {
        processes.push(emit::emit(&mut builder, &globals.members[i], cfg, &domains[i]));
    }
    let texts: Vec<&Notes> = bodies.iter().map(|it| &it.1).collect();
    let uses = properties::lower(&mut log, &mut builder, file, &properties::Known::new(&globals, &processes, &texts));
    if file.items.iter().all(|item| !matches!(item.kind, ast::ItemKind::Thread(_))) {
        log.error(Span::new(0, 0), "the file has no thread", "add one: `thread T { … }`");
    }
    unused::warn(&mut log, file, &globals, &bodies, &uses);
    let program = (!log.has_errors()).then(|| builder.finish());
    Lowered { program, diagnostics: log.finish(), source: source.clone() }
}

fn bodies(log: &mut Log, builder: &Builder, globals: &Globals<'_>) -> Vec<(Cfg, Notes)> {
    let lower = |member| lower_member(globals, builder.so_far(), log, member);
    let bodies = globals.members.iter().map(lower).collect();
    for function in globals.functions() {
        if !log.used.contains(&function.name.text) {
            check_function(globals, builder.so_far(), log, function);
        }
    }
    bodies
}
