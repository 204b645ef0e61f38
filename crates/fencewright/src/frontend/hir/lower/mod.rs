//! From the typed tree to a program: control flow, loads, ranges, situations.
//!
//! | file | |
//! |---|---|
//! | `walk` | where we are in a thread, and its automaton so far |
//! | `statements`, `branches`, `values` | what a statement, a condition and an expression put there |
//! | `atomic` | an atomic block as one step |
//! | `cfg` | the automaton in the making, and what can be left out of it |
//! | `ranges`, `intervals` | the values of registers that are declared without |
//! | `flow`, `narrow` | the values of registers at each point, and of memory |
//! | `unrolled` | loops that are counted, taken apart for that |
//! | `wraps` | results that leave their type |
//! | `unset` | memory that holds nothing at first |
//! | `emit` | the automaton as a process of the program |
//! | `properties`, `situations` | claims as situations over its points and registers |

mod atomic;
mod branches;
mod cfg;
mod emit;
mod flow;
mod intervals;
mod narrow;
mod properties;
mod ranges;
mod situations;
mod statements;
mod unrolled;
mod unset;
mod values;
mod walk;
mod wraps;

use std::collections::{BTreeMap, BTreeSet};

use crate::frontend::Lowered;
use crate::frontend::said::{MAX_LOCATIONS, MAX_PROCESSES, Said};
use crate::program::{self, Builder, Domain, LocationId, ProcessId, Program, RegisterId, Value};
use crate::source::{Diagnostic, Source, Span};
use crate::util::{Idx, IndexVec};

use super::{AllocationId, Condition, ConditionKind, Expr, LocalId, Operand, Place, Thread, Unit, tree};
use intervals::{Interval, apply, eval};
use unset::{Unset, Unsets};
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

/// What comes to be while threads run.
type Allocations = IndexVec<AllocationId, Vec<Place>>;

/// What memory there is.
#[derive(Clone, Copy)]
struct Memory<'a> {
    program: &'a Program,
    unsets: &'a Unsets,
    allocations: &'a Allocations,
}

fn automata(said: &mut Said, memory: Memory<'_>, threads: &IndexVec<ProcessId, Thread>) -> Vec<cfg::Cfg> {
    let mut bodies: Vec<_> = threads.iter().map(|it| Walk::lower(said, memory, it)).collect();
    bodies.iter_mut().for_each(cfg::Cfg::simplify);
    bodies
}

/// What that means.
const UNBOUNDED: &str = "it is taken for an integer without bounds: that it wraps or overflows is not seen";

/// Finds out what locations may hold, and says so; what stands for those that hold nothing.
fn infer_memory(
    said: &mut Said,
    builder: &mut Builder,
    (threads, allocations): (&IndexVec<ProcessId, Thread>, &Allocations),
    (inferred, unset): (&BTreeMap<LocationId, (Value, Value)>, &BTreeSet<LocationId>),
) -> Unsets {
    // What is wrong is said when the threads are lowered with what is found out.
    let unknown = unset::unknown(builder.so_far(), unset);
    let bodies = automata(
        &mut Said::new(said.source()),
        Memory { program: builder.so_far(), unsets: &unknown, allocations },
        threads,
    );
    let found = flow::memory(builder.so_far(), &bodies, &inferred.keys().copied().collect(), unset);
    for (&location, domain) in &found {
        let (lo, hi) = inferred[&location];
        let is_within = domain.bounds().is_some_and(|(least, most)| lo <= least && most <= hi);
        if !is_within {
            let it = &builder.so_far().locations()[location];
            let message = format!("`{}` may leave the range {lo}..{hi} of its type", it.name);
            said.say(Diagnostic::warning(it.span, message).with_help(UNBOUNDED));
        }
        builder.set_values(location, *domain);
    }
    unset::chosen(builder, &found, unset)
}

/// Warns of a result without bounds, unless a variable in memory has been named for that.
fn say_unbounded(said: &mut Said, cfg: &cfg::Cfg) {
    if let Some(&span) = cfg.unbounded.first().filter(|_| said.is_silent()) {
        let message = format!("`{}` may leave the range of its type", said.source().slice(span));
        said.say(Diagnostic::warning(span, message).with_help(UNBOUNDED));
    }
}

/// What is found out about a unit.
pub(super) struct Found {
    /// Memory, with the values that it may hold.
    pub memory: Program,
    /// The values of each register that is declared.
    pub locals: IndexVec<ProcessId, IndexVec<LocalId, Option<Domain>>>,
    unsets: Unsets,
}

impl Found {
    /// Whether a mask may change the value of an expression that is not taken for unbounded.
    pub(super) fn wraps(&self, thread: ProcessId, expr: &Expr, mask: Value) -> bool {
        match self.values(thread, expr) {
            Interval::Bounded(lo, hi) => !wraps::fits((lo, hi), mask),
            Interval::Empty | Interval::All | Interval::TooLarge => false,
        }
    }

    /// Whether a check of a signed result may fail.
    pub(super) fn may_overflow(&self, thread: ProcessId, condition: &Condition) -> bool {
        let ConditionKind::Test(expr) = &condition.kind else { return true };
        let (expr, registers) = (self.over_registers(thread, expr), self.registers(thread));
        !wraps::always(&expr, &registers) && !wraps::is_endless(&expr, &registers)
    }

    /// Whether an update by a thread leaves the value of a place within a mask.
    pub(super) fn stays(
        &self,
        place: &Place,
        (thread, op, by): (ProcessId, program::BinaryOp, &Expr),
        mask: Value,
    ) -> bool {
        match apply(op, Interval::of(tree::domain_of(&self.memory, place)), self.values(thread, by)) {
            Interval::Bounded(lo, hi) => wraps::fits((lo, hi), mask),
            Interval::Empty | Interval::All | Interval::TooLarge => true,
        }
    }

    /// The values of an expression.
    fn values(&self, thread: ProcessId, expr: &Expr) -> Interval {
        let registers = self.registers(thread);
        eval(&self.over_registers(thread, expr), &|it| registers[it])
    }

    /// The values of registers, and of whatever else there is behind them.
    fn registers(&self, thread: ProcessId) -> narrow::Registers {
        let known = self.locals[thread].iter().map(|it| it.map_or(Interval::All, Interval::of));
        known.chain([Interval::All]).collect()
    }

    fn over_registers(&self, thread: ProcessId, expr: &Expr) -> program::Expr<RegisterId> {
        let n = self.locals[thread].len();
        expr.map(&mut |it| match it {
            Operand::Local(local) => RegisterId::from_usize(local.index()),
            Operand::Effect(_) => RegisterId::from_usize(n),
        })
    }

    /// The value that stands for a place that was never written.
    pub(super) fn unset(&self, place: &Place) -> Option<Value> {
        match self.unsets.get(&tree::first_of(&self.memory, place)) {
            Some(Unset::Value(value)) => Some(*value),
            Some(Unset::Unknown) | None => None,
        }
    }
}

/// Finds out the values of memory and registers.
pub(super) fn found(said: &mut Said, unit: &Unit) -> Found {
    let mut builder = unit.builder.clone();
    let unsets = match unit.inferred.is_empty() {
        true => Unsets::new(),
        false => infer_memory(said, &mut builder, (&unit.threads, &unit.allocations), (&unit.inferred, &unit.unset)),
    };
    let memory = builder.so_far().clone();
    let of_unit = Memory { program: &memory, unsets: &unsets, allocations: &unit.allocations };
    let mut locals = IndexVec::new();
    for mut cfg in automata(said, of_unit, &unit.threads) {
        let domains = match unit.inferred.is_empty() {
            true => ranges::infer(&memory, &cfg).domains,
            false => ranges::by_flow(&memory, &mut cfg),
        };
        locals.push(cfg.locals.iter().map(|it| it.map(|register| domains[register])).collect());
    }
    Found { memory, locals, unsets }
}

/// Lowers a unit.
pub(in crate::frontend) fn lower_all(said: &mut Said, unit: Unit) -> Outcome {
    let Unit { mut builder, threads, properties, hints, inferred, unset, allocations } = unit;
    builder.set_source(said.source());
    let unsets = match inferred.is_empty() {
        true => Unsets::new(),
        false => infer_memory(said, &mut builder, (&threads, &allocations), (&inferred, &unset)),
    };
    said.turn_to_edges();
    let mut bodies =
        automata(said, Memory { program: builder.so_far(), unsets: &unsets, allocations: &allocations }, &threads);
    if !inferred.is_empty() {
        bodies.iter_mut().for_each(unrolled::unroll);
    }
    let mut unbounded = Vec::new();
    let mut domains = Vec::new();
    for (thread, cfg) in threads.indices().zip(&mut bodies) {
        if !inferred.is_empty() {
            domains.push(ranges::by_flow(builder.so_far(), cfg));
            say_unbounded(said, cfg);
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
