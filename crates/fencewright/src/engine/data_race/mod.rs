//! Races: two accesses to one plain location, one of them a write, that happens-before does not order.
//!
//! Happens-before is that of C11: program order, and a release that an acquire reads from. It is followed in every run
//! of SC, exactly ([`watched`]); under a weaker model two accesses that are about to happen at once are looked for
//! besides ([`at_once`]), since there threads can meet that do not meet under SC. So `safe` says: no race in any
//! sequentially consistent run, and no two accesses at once under the model. A weak run in which accesses are unordered
//! without ever being possible at once is not looked for.
//!
//! Under release/acquire two accesses at once are all there is to look for. Take a first race and leave out all that
//! happens before neither access, and both: what is left is a run to where both threads stand before them. Plain data
//! is accessed there as any other; as long as there is no race, a load finds the one store that is before it.
//!
//! | | happens-before |
//! |---|---|
//! | load `acquire`, `seq_cst`, without an order | what the value tells is before what follows |
//! | load `relaxed` | the same, before what follows the next acquire fence |
//! | store `release`, `seq_cst`, without an order | the value tells what the thread did |
//! | store `relaxed` | the value tells what the thread did until its last release fence |
//! | update | both, and the value still tells what the one before told (the release sequence of C++20) |
//! | `fence`, `fence(seq_cst)`, `fence(acq_rel)` | acquire fence, then release fence |
//! | `fence(store)` | nothing: the language has no such fence |
//! | `atomic { … }` | accesses in turn, as without an order; each block is before the next |
//!
//! Initial values are before everything; but memory that is allocated while threads run is written there
//! ([`Program::with_allocations`]).
//!
//! | file | idea |
//! |---|---|
//! | [`knowledge`] | what must be remembered, in bits |
//! | [`watched`] | the program that remembers it |
//! | [`any_number`] | any number of threads |
//! | [`back`](mod@back) | a run of that, as one of the program |
//! | [`at_once`] | two accesses at once |
//! | [`clocks`] | a run with vector clocks: who raced with whom |
//! | [`told`] | what is said of a race |

mod any_number;
mod at_once;
mod back;
mod clocks;
mod knowledge;
mod told;
mod watched;

use crate::engine::{
    Answer, Asked, Engine, Question, Reduced, Stats, StopReason, Task, Unmade, Unsupported, Verdict, ask,
};
use crate::memory::Model;
use crate::program::{EdgeId, Program, Property, PropertyKind, Situation};
use crate::source::Span;
use crate::system::{Run, Trace, Violation, promptly, replay};
use crate::util::Idx;
use crate::watch::Monitor;

use at_once::AtOnce;
use back::{Watched, back};
use knowledge::{Access, Knowledge, each_access};

pub use told::{Accessed, Missing, Told, told};

/// The name of the question.
pub const RACE: &str = "race";

/// Races as a property of executions, under a model whose states tell it.
pub(in crate::engine) fn race_property() -> Property {
    Property::of_execution(PropertyKind::Race, RACE, "two accesses to plain data that nothing orders")
}

/// A program with races beside its own properties, under a model of which a race is always a violation.
pub fn beside_race(program: &Program, model: Model) -> Option<Program> {
    let is_asked = model.language().is_some() && !program.plain().is_empty();
    let own = program.properties().iter().cloned();
    is_asked.then(|| program.with_allocations().with_properties(own.chain([race_property()])))
}

/// Asks an engine for safety; where a race is always a violation, for races besides.
///
/// # Errors
/// The engine does not take the question.
pub fn ask_safety(engine: &dyn Engine, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
    match beside_race(task.program, task.model) {
        Some(program) => engine.check(&Task { program: &program, ..*task }, monitor),
        None => engine.check(task, monitor),
    }
}

/// Asks an engine whether two accesses to plain data race.
///
/// # Errors
/// The program has too much plain data, fences are laid over it, or the engine does not take what is to be asked.
pub fn ask_race(engine: &dyn Engine, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Asked, Unsupported> {
    has_listed_indices(task)?;
    if !task.placement.is_empty() {
        let reason = "races are asked about a text, not about fences laid over it".to_owned();
        return Err(Unsupported { reason, help: "write the fences into the program".to_owned() });
    }
    if task.program.plain().is_empty() {
        return Ok(asked(engine, Verdict::Safe, task.program));
    }
    if task.model.language().is_some() {
        return ask(engine, &InExecutions, task, monitor);
    }
    if task.model.messaging().is_some() {
        return ask(engine, &AtOnce, task, monitor);
    }
    let first = unordered(engine, task, monitor)?;
    if task.model == Model::STRONGEST {
        return Ok(first);
    }
    match (&first.answer.verdict, any_number::n_copies(&first)) {
        (Verdict::Unsafe(_), None) => Ok(first),
        (Verdict::Unsafe(_), Some(n)) => {
            Ok(any_number::with_fewest((first, n), ask(engine, &AtOnce, task, monitor).ok()))
        }
        (Verdict::Safe, _) => ask(engine, &AtOnce, task, monitor),
        (Verdict::Unknown(_), _) => {
            let second = ask(engine, &AtOnce, task, monitor)?;
            let is_safe = matches!(second.answer.verdict, Verdict::Safe);
            Ok(if is_safe { first } else { any_number::fewer_might_do(second) })
        }
    }
}

/// Races under a model whose states tell them.
struct InExecutions;

impl Question for InExecutions {
    fn name(&self) -> &'static str {
        RACE
    }

    fn about(&self) -> &'static str {
        "can two accesses to plain data, one of them a write, be unordered?"
    }

    fn reduce(&self, task: &Task<'_>, _: &dyn Monitor) -> Result<Reduced, Unmade> {
        let program = task.program.with_allocations().with_properties([]).with_assumed(&|_| true);
        Ok(Reduced::to_properties(task, program.with_properties([race_property()])))
    }
}

fn asked(engine: &dyn Engine, verdict: Verdict, program: &Program) -> Asked {
    let answer = Answer { engine: engine.name(), verdict, stats: Stats::default() };
    Asked { answer, program: program.clone() }
}

/// Whether some run of SC has a race, as a run under the model of the task.
fn unordered(engine: &dyn Engine, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Asked, Unsupported> {
    let program = task.program.with_allocations().with_properties([]).with_assumed(&|_| true);
    let knowledge = Knowledge::new(&program)?;
    let shown = program.with_properties([at_once::property(accesses(&program))]);
    if knowledge.is_empty() {
        return Ok(asked(engine, Verdict::Safe, &shown));
    }
    let watched = watched::watched(&program, &knowledge);
    let strongest = Task { program: &watched, model: Model::STRONGEST, ..*task };
    let mut answer = engine.check(&strongest, monitor)?;
    if let Verdict::Unsafe(run) = answer.verdict {
        if let Violation::Fault(fault) = run.trace.violation {
            return Err(goes_wrong(&program, watched.edges()[run.origin(fault.edge())].span));
        }
        answer.verdict = match &run.instance {
            Some(made) => any_number::raced(&shown, task, (made, &run)),
            None => raced(&shown, task, of_listed((&program, &watched), &run)),
        };
    }
    Ok(Asked { answer, program: shown })
}

/// A run of the watched program as one of the program, where both list their threads: the edges of the program come
/// first in both.
fn of_listed((program, watched): (&Program, &Program), run: &Run) -> Trace {
    let edge_of = |edge: EdgeId| (edge.index() < program.edges().len()).then_some(edge);
    back(Watched { program, watched, edge_of: &edge_of }, run)
}

/// What a trace that is to end in a race shows of a program.
fn raced(shown: &Program, task: &Task<'_>, trace: Trace) -> Verdict {
    let (placement, dialect) = (task.placement, task.options.dialect);
    let trace = promptly(shown, placement, task.model, dialect, trace);
    match replay(shown, placement, task.model, dialect, &trace) {
        Ok(run) if told(shown, &run).is_some() => Verdict::Unsafe(Box::new(run)),
        Ok(_) => Verdict::Unknown(StopReason::Defect("the clocks of the run see no race".to_owned())),
        Err(error) => Verdict::Unknown(StopReason::Defect(error.to_string())),
    }
}

/// Whether the threads are listed whose index matters.
fn has_listed_indices(task: &Task<'_>) -> Result<(), Unsupported> {
    if task.program.indexed().is_some() { task.is_closed() } else { Ok(()) }
}

fn goes_wrong(program: &Program, span: Span) -> Unsupported {
    let reason = format!("a run goes wrong before that can be said ({})", program.source().line_name(span));
    Unsupported { reason, help: "ask for safety first: `--ask safety` shows the run".to_owned() }
}

/// A process about to access plain data, for each such edge.
fn accesses(program: &Program) -> Vec<Situation> {
    let mut out = Vec::new();
    for edge in program.edges() {
        let mut is_plain = false;
        each_access(&edge.op, &mut |place, _: Access| is_plain |= program.is_plain(place));
        out.extend(is_plain.then(|| watched::at(edge.process, edge.from)));
    }
    out
}
