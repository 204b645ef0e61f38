//! From the typed tree to a program: control flow, loads, ranges, situations.
//!
//! | file | |
//! |---|---|
//! | `walk` | where we are in a thread, and its automaton so far |
//! | `statements`, `branches`, `values` | what a statement, a condition and an expression put there |
//! | `atomic` | an atomic block as one step |
//! | `cfg` | the automaton in the making, and what can be left out of it |
//! | `ranges`, `intervals` | the values of registers that are declared without |
//! | `flow` | the values of registers at each point, and of memory |
//! | `emit` | the automaton as a process of the program |
//! | `properties`, `situations` | claims as situations over its points and registers |

mod atomic;
mod branches;
mod cfg;
mod emit;
mod flow;
mod intervals;
mod properties;
mod ranges;
mod situations;
mod statements;
mod values;
mod walk;

use std::collections::BTreeMap;

use crate::frontend::Lowered;
use crate::frontend::said::{MAX_LOCATIONS, MAX_PROCESSES, Said};
use crate::program::{Builder, LocationId, ProcessId, Program, Value};
use crate::source::{Diagnostic, Source, Span};
use crate::util::IndexVec;

use super::{LocalId, Thread, Unit};
use walk::Walk;

/// What lowering makes of a unit, and what it found that the language of the text has words for.
pub(in crate::frontend) struct Outcome {
    /// The program, if nothing is wrong.
    pub builder: Builder,
    /// Registers without a finite range. Each is an error.
    pub unbounded: Vec<Unbounded>,
}

/// A register that is declared without a range and grows without end.
pub(in crate::frontend) struct Unbounded {
    /// Whose it is.
    pub thread: ProcessId,
    /// The register.
    pub local: LocalId,
    /// Where it grows.
    pub grows: Span,
}

/// Gives a typed tree its meaning; its places are places in this text.
pub fn lower(source: &Source, unit: Unit) -> Lowered {
    let mut said = Said::new(source);
    check_size(&mut said, &unit);
    let locals: IndexVec<ProcessId, _> = unit.threads.iter().map(|thread| thread.locals.clone()).collect();
    let outcome = lower_all(&mut said, unit);
    for it in outcome.unbounded {
        let local = &locals[it.thread][it.local];
        let name = local.name.as_deref().unwrap_or("this value");
        let diagnostic = Diagnostic::error(local.span, format!("cannot infer a finite range for `{name}`"));
        said.say(diagnostic.and_at(it.grows, "it grows here").with_help("declare which values it holds"));
    }
    said.into_lowered(outcome.builder)
}

/// A front end may ask for more than the engines can take.
fn check_size(said: &mut Said, unit: &Unit) {
    if unit.threads.is_empty() {
        said.error(Span::default(), "the program has no thread", "add one");
    }
    if unit.threads.len() > MAX_PROCESSES {
        said.error(Span::default(), format!("the program has more than {MAX_PROCESSES} threads"), "leave some out");
    }
    if unit.memory().locations().len() > MAX_LOCATIONS {
        let message = format!("the program has more than {MAX_LOCATIONS} shared locations");
        said.error(Span::default(), message, "use smaller arrays");
    }
}

fn automata(said: &mut Said, memory: &Program, threads: &IndexVec<ProcessId, Thread>) -> Vec<cfg::Cfg> {
    let mut bodies: Vec<_> = threads.iter().map(|it| Walk::lower(said, memory, it)).collect();
    bodies.iter_mut().for_each(cfg::Cfg::simplify);
    bodies
}

/// Finds out what locations may hold, and says so.
fn infer_memory(
    said: &mut Said,
    builder: &mut Builder,
    threads: &IndexVec<ProcessId, Thread>,
    inferred: &BTreeMap<LocationId, (Value, Value)>,
) {
    // What is wrong is said when the threads are lowered with what is found out.
    let bodies = automata(&mut Said::new(said.source()), builder.so_far(), threads);
    for (location, domain) in flow::memory(builder.so_far(), &bodies, &inferred.keys().copied().collect()) {
        let (lo, hi) = inferred[&location];
        let is_within = domain.bounds().is_some_and(|(least, most)| lo <= least && most <= hi);
        if !is_within {
            let it = &builder.so_far().locations()[location];
            let message = format!("`{}` may leave the range {lo}..{hi} of its type", it.name);
            let help = "it is taken for an integer without bounds: that it wraps or overflows is not seen";
            said.say(Diagnostic::warning(it.span, message).with_help(help));
        }
        builder.set_values(location, domain);
    }
}

/// Lowers a unit.
pub(in crate::frontend) fn lower_all(said: &mut Said, unit: Unit) -> Outcome {
    let Unit { mut builder, threads, properties, hints, inferred } = unit;
    builder.set_source(said.source());
    if !inferred.is_empty() {
        infer_memory(said, &mut builder, &threads, &inferred);
    }
    said.turn_to_edges();
    let mut bodies = automata(said, builder.so_far(), &threads);
    let mut unbounded = Vec::new();
    let mut domains = Vec::new();
    for (thread, cfg) in threads.indices().zip(&mut bodies) {
        if !inferred.is_empty() {
            domains.push(ranges::by_flow(builder.so_far(), cfg));
            continue;
        }
        let inferred = ranges::infer(builder.so_far(), cfg);
        unbounded.extend(inferred.unbounded.into_iter().map(|(local, grows)| Unbounded { thread, local, grows }));
        domains.push(inferred.domains);
    }
    let mut emitted = Vec::new();
    for ((thread, cfg), domains) in threads.iter().zip(&bodies).zip(&domains) {
        emitted.push(emit::emit(&mut builder, thread, cfg, domains));
    }
    properties::lower(said, &mut builder, &emitted, &properties, &hints);
    Outcome { builder, unbounded }
}
