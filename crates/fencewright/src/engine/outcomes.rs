//! Every final state of a program: all processes have ended, no store waits.
//!
//! ```text
//!   forward search over all states ──exhausted──▶ these are all
//!                │ buffers or data grow
//!                ▼
//!   "is there a run that ends otherwise?" ──an engine──▶ safe: these are all
//!                ▲                              │ a run
//!                ╰────────── one more ◀─────────╯
//! ```
//!
//! What is seen of a final state is a list of variables. The question that goes to an engine is one of safety, with a
//! property of the end that excludes what is known; so every engine can be asked, and `safe` is a proof that nothing is
//! missing, with buffers and loops unbounded. Runs that go wrong have no final state: assertions are assumed there.

use std::collections::BTreeSet;

use crate::engine::explicit::{Collected, Explicit, Patience};
use crate::engine::{Answer, Asked, Engine, Stats, StopReason, Task, Unsupported, Verdict};
use crate::program::{
    BinaryOp, Expr, PointId, ProcessId, Program, Property, PropertyKind, PropertyWords, Situation, StateVar, Value,
};
use crate::source::Span;
use crate::system::{Fault, Run, Violation};
use crate::util::Idx;
use crate::watch::{Monitor, Progress, Stop};

/// So many rounds without news, and somebody is asked who need not bound the buffers.
const IDLE_ROUNDS: u32 = 2;

/// So many outcomes are asked for where data is unbounded, as there may be no end of them.
const MAX_ASKED: usize = 100;

/// The final states of a program.
#[derive(Clone, Debug)]
pub struct Outcomes {
    /// The values of what was asked for, in that order.
    pub values: BTreeSet<Vec<Value>>,
    /// Why there may be more; `None` if these are all.
    pub stopped: Option<StopReason>,
    /// What goes wrong in runs that come to no final state, as far as that was met.
    pub faults: BTreeSet<Fault>,
    /// The engine that had the last word.
    pub engine: &'static str,
    /// What it took.
    pub stats: Stats,
}

/// Lists the final states by the values of some variables. `auto` searches all states, and asks its engines where that
/// does not end; `explicit` does the first, every other engine is asked alone.
///
/// # Errors
/// The engine does not take the program.
pub fn outcomes(
    engine: &dyn Engine,
    task: &Task<'_>,
    shown: &[StateVar],
    monitor: &dyn Monitor,
) -> Result<Outcomes, Unsupported> {
    task.is_closed()?;
    let Some(ends) = ends(task.program) else { return Ok(Outcomes::none(engine)) };
    let listing = Listing { engine, task, shown, ends, monitor };
    let is_explicit = std::ptr::eq(engine.card(), Explicit::DEFAULT.card());
    if !is_explicit && !engine.card().asks_others {
        return listing.asked(Outcomes::none(engine));
    }
    let patience = if is_explicit { Patience::All } else { Patience::Rounds(IDLE_ROUNDS) };
    let found = match listing.collected(patience) {
        Ok(found) => found,
        Err(unsupported) if is_explicit => return Err(unsupported),
        Err(_) => return listing.asked(Outcomes::none(engine)),
    };
    let is_endless = task.program.has_unbounded_data() && found.values.len() > MAX_ASKED;
    if is_explicit || is_endless || found.stopped.as_ref().is_none_or(is_final) {
        return Ok(found);
    }
    listing.asked(found)
}

/// Asks an engine for a run that ends with these values: `Unsafe` has one, `Safe` says that there is none.
///
/// # Errors
/// The engine does not take the program.
pub fn witness(
    engine: &dyn Engine,
    task: &Task<'_>,
    wanted: &[(StateVar, Value)],
    monitor: &dyn Monitor,
) -> Result<Asked, Unsupported> {
    task.is_closed()?;
    let terms = wanted.iter().map(|&(variable, value)| compare(BinaryOp::Eq, variable, value));
    let ends = ends(task.program).unwrap_or_default();
    let property = at_end(ends, joined(BinaryOp::And, terms.collect()).unwrap_or(Expr::TRUE));
    let program = asking(task.program, property);
    let mut answer = engine.check(&Task { program: &program, ..*task }, monitor)?;
    if let Verdict::Unsafe(run) = &answer.verdict
        && let Violation::Fault(fault) = run.trace.violation
    {
        answer.verdict = Verdict::Unknown(goes_wrong(task.program, fault));
    }
    Ok(Asked { answer, program })
}

impl Outcomes {
    /// Nothing was found before somebody had to stop.
    pub fn stopped(engine: &dyn Engine, stop: Stop) -> Self {
        Self { stopped: Some(stop.into()), ..Self::none(engine) }
    }

    fn none(engine: &dyn Engine) -> Self {
        let (values, faults) = (BTreeSet::new(), BTreeSet::new());
        Self { values, stopped: None, faults, engine: engine.name(), stats: Stats::default() }
    }
}

/// Whether nobody else need be asked: a limit of the user was met.
fn is_final(reason: &StopReason) -> bool {
    match reason {
        StopReason::Timeout | StopReason::Memory | StopReason::Interrupted | StopReason::Defect(_) => true,
        StopReason::BufferBound(_) | StopReason::UnboundedData(_) | StopReason::States(_) => false,
        StopReason::Pool(_) => false,
        StopReason::Constraints(_) | StopReason::Diverged(_) | StopReason::Alarm(_) => false,
        StopReason::Unconfirmed(_) | StopReason::Slots(_) | StopReason::Overflow | StopReason::Unproved(_) => false,
    }
}

/// Where each process ends.
type Ends = Vec<(ProcessId, Vec<PointId>)>;

/// A list being made.
struct Listing<'a> {
    engine: &'a dyn Engine,
    task: &'a Task<'a>,
    shown: &'a [StateVar],
    ends: Ends,
    monitor: &'a dyn Monitor,
}

impl Listing<'_> {
    /// By a search through all states.
    fn collected(&self, patience: Patience) -> Result<Outcomes, Unsupported> {
        // The condition excludes nothing; it tells the reductions what is seen.
        let seen = self.shown.iter().map(|&it| Expr::binary(BinaryOp::Eq, Expr::Var(it), Expr::Var(it)));
        let condition = joined(BinaryOp::And, seen.collect()).unwrap_or(Expr::TRUE);
        let program = self.task.program.with_properties([at_end(self.ends.clone(), condition)]);
        let task = Task { program: &program, ..*self.task };
        let Collected { finals, stopped, stats } =
            Explicit::DEFAULT.finals(&task, (self.shown, patience), self.monitor)?;
        let engine = Explicit::DEFAULT.name();
        Ok(Outcomes { values: finals.values, stopped, faults: finals.faults, engine, stats })
    }

    /// By asking for one more until there is none.
    fn asked(&self, mut found: Outcomes) -> Result<Outcomes, Unsupported> {
        let is_unbounded = self.task.program.has_unbounded_data();
        let max = if is_unbounded { found.values.len() + MAX_ASKED } else { usize::MAX };
        loop {
            let Answer { engine, verdict, stats } = self.ask(&found)?;
            found.engine = engine;
            found.stats = Stats { explored: found.stats.explored + stats.explored, ..stats };
            found.stopped = match verdict {
                Verdict::Safe => None,
                Verdict::Unknown(reason) => Some(reason),
                Verdict::Unsafe(run) => match run.trace.violation {
                    Violation::Fault(fault) => {
                        found.faults.insert(fault);
                        Some(goes_wrong(self.task.program, fault))
                    }
                    Violation::Property(_) if found.values.insert(self.values_of(&run)) => {
                        let progress = Progress { explored: found.stats.explored, ..Progress::default() };
                        match self.monitor.poll(&progress) {
                            Some(stop) => Some(stop.into()),
                            None if found.values.len() >= max => Some(StopReason::UnboundedData(found.stats.explored)),
                            None => continue,
                        }
                    }
                    Violation::Property(_) => Some(StopReason::Defect("a run ends as was excluded".to_owned())),
                },
            };
            return Ok(found);
        }
    }

    /// Whether a run ends otherwise.
    fn ask(&self, found: &Outcomes) -> Result<Answer, Unsupported> {
        let differs = |values: &Vec<Value>| {
            let terms = self.shown.iter().zip(values).map(|(&it, &value)| compare(BinaryOp::Ne, it, value));
            joined(BinaryOp::Or, terms.collect()).unwrap_or(Expr::Const(0))
        };
        let condition = joined(BinaryOp::And, found.values.iter().map(differs).collect()).unwrap_or(Expr::TRUE);
        let program = asking(self.task.program, at_end(self.ends.clone(), condition));
        self.engine.check(&Task { program: &program, ..*self.task }, self.monitor)
    }

    /// What a run ends with.
    fn values_of(&self, run: &Run) -> Vec<Value> {
        let start = (&run.trace.start.memory, &run.trace.start.registers);
        let (memory, registers) = run.events.last().map_or(start, |last| (&last.memory, &last.registers));
        let value = |variable: &StateVar| match variable {
            StateVar::Register(process, register) => registers[*process][register.index()],
            StateVar::Memory(x) => memory[*x],
        };
        self.shown.iter().map(value).collect()
    }
}

/// Where each process ends; `None` if one never does.
fn ends(program: &Program) -> Option<Ends> {
    let mut ends: Ends = program.processes().indices().map(|process| (process, Vec::new())).collect();
    for (id, point) in program.points().iter_enumerated().filter(|(_, point)| point.is_end) {
        ends[point.process.index()].1.push(id);
    }
    ends.iter().all(|(_, points)| !points.is_empty()).then_some(ends)
}

/// The program with nothing to violate but a property, as far as that can be had.
fn asking(program: &Program, property: Property) -> Program {
    program.with_properties([property]).with_assumed(&|_| true)
}

/// All processes have ended, and this holds. If one never ends there are no ends, and nothing is ever so.
fn at_end(ends: Ends, condition: Expr<StateVar>) -> Property {
    let situations = if ends.is_empty() { Vec::new() } else { vec![Situation { at: ends, condition }] };
    Property {
        kind: PropertyKind::Final,
        situations,
        text: "this outcome".to_owned(),
        words: PropertyWords { when: "at end".to_owned(), ..PropertyWords::default() },
        span: Span::default(),
    }
}

fn compare(op: BinaryOp, variable: StateVar, value: Value) -> Expr<StateVar> {
    Expr::binary(op, Expr::Var(variable), Expr::Const(value))
}

/// The terms with an operator between them, as flat a tree as can be; nothing if there are none.
fn joined(op: BinaryOp, mut terms: Vec<Expr<StateVar>>) -> Option<Expr<StateVar>> {
    while terms.len() > 1 {
        let mut rest = terms.into_iter();
        let mut pairs = Vec::new();
        while let Some(left) = rest.next() {
            pairs.push(match rest.next() {
                Some(right) => Expr::binary(op, left, right),
                None => left,
            });
        }
        terms = pairs;
    }
    terms.pop()
}

/// A fault that comes before what was asked for, and cannot be asked away.
fn goes_wrong(program: &Program, fault: Fault) -> StopReason {
    let line = program.source().line_of(program.edges()[fault.edge()].span.start);
    StopReason::Unproved(format!("line {line} goes wrong in some run, and this engine stops there"))
}
