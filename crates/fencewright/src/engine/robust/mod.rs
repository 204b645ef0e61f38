//! Robustness: does the program behave under the model as it does under sequential consistency?
//!
//! No property is needed, and "not robust" is no bug by itself: it says that reordering shows, not that it hurts. There
//! are two grades:
//!
//! | | the program is robust if | decided by |
//! |---|---|---|
//! | `trace` | every execution graph is one of sequential consistency | searching for an attack |
//!
//! | file | idea |
//! |---|---|
//! | [`attack`] | one thread delays a store, others make that show |
//! | [`search`] | all attacks at once, under sequential consistency |

mod attack;
mod search;

use crate::engine::automaton::{Automaton, Merging};
use crate::engine::run::{Trimming, replayed};
use crate::engine::{
    Answer, Card, Engine, Question, Reduced, Repairs, Stats, Task, Unmade, Unsupported, Verdict,
    is_enumerable,
};
use crate::memory::Buffering;
use crate::program::{Program, Property, PropertyId, PropertyKind, PropertyWords};
use crate::source::Span;
use crate::system::Violation;
use crate::watch::Monitor;

use search::{End, Search};

/// The name of the question for execution graphs.
pub const ROBUST_TRACE: &str = "robust=trace";

/// Is every execution graph one of sequential consistency? The engine [`Attacks`] knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct RobustTrace;

impl RobustTrace {
    /// The question as a property.
    fn property() -> Property {
        Property {
            kind: PropertyKind::Trace,
            situations: Vec::new(),
            text: "an execution that sequential consistency does not have".to_owned(),
            words: PropertyWords { name: Some(ROBUST_TRACE.to_owned()), ..PropertyWords::default() },
            span: Span::default(),
        }
    }

    /// The program with the question beside its own properties.
    pub fn beside(program: &Program) -> Program {
        let own = program.properties().iter().cloned();
        program.with_properties(own.chain([Self::property()]))
    }
}

impl Question for RobustTrace {
    fn name(&self) -> &'static str {
        ROBUST_TRACE
    }

    fn about(&self) -> &'static str {
        "is every execution, by who reads what from whom, one of sequential consistency?"
    }

    fn reduce(&self, task: &Task<'_>, _: &dyn Monitor) -> Result<Reduced, Unmade> {
        Ok(Reduced::to_properties(task, alone(task.program).with_properties([Self::property()])))
    }
}

/// The program without its own properties. A run in which an assertion fails is another question's.
fn alone(program: &Program) -> Program {
    program.with_properties([]).with_assumed(&|_| true)
}

/// Decides [`RobustTrace`]; what else a program is asked, another engine answers first.
#[derive(Clone, Copy)]
pub struct Attacks {
    /// The other engine.
    pub others: &'static dyn Engine,
}

static CARD: Card = Card {
    name: "attacks",
    about: "one thread delays a store, others make that show: searched under sequential consistency",
    reductions: &[],
    settings: &[],
    contradiction: |_| None,
    repairs: Repairs::ByRuns,
    asks_others: true,
};

impl Engine for Attacks {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        task.buffering()?;
        asked_in(task.program)?;
        is_enumerable(task.program)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        self.takes(task)?;
        let (buffering, property) = (task.buffering()?, asked_in(task.program)?);
        let asks_more = task.program.properties().len() > 1
            || task.program.edges().iter().any(|edge| edge.op.has_assertion());
        if asks_more {
            let answer = self.others.check(task, monitor)?;
            if !matches!(answer.verdict, Verdict::Safe) {
                return Ok(answer);
            }
        }
        if buffering == Buffering::None {
            return Ok(Answer { engine: self.name(), verdict: Verdict::Safe, stats: Stats::default() });
        }
        let merging = Merging { dead_registers: true, local_steps: true, bisimilar: false };
        let automaton = Automaton::new(task, merging);
        let (end, stats) = Search::new(task, buffering, &automaton).run(monitor);
        let shown = |path, violation| match replayed(task, &automaton, path, violation, Trimming::Tried) {
            Ok(run) => Verdict::Unsafe(Box::new(run)),
            Err(reason) => Verdict::Unknown(reason),
        };
        let verdict = match end {
            End::Exhausted => Verdict::Safe,
            End::Attacked(path) => shown(path, Violation::Property(property)),
            End::Broken(path, fault) => shown(path, Violation::Fault(fault)),
            End::Stopped(reason) => Verdict::Unknown(reason),
        };
        Ok(Answer { engine: self.name(), verdict, stats })
    }
}

/// The question among the properties of a program.
fn asked_in(program: &Program) -> Result<PropertyId, Unsupported> {
    let mut properties = program.properties().iter_enumerated();
    let found = properties.find(|(_, it)| it.kind == PropertyKind::Trace).map(|(id, _)| id);
    found.ok_or_else(|| Unsupported {
        reason: "attacks answer no question but robustness".to_owned(),
        help: "ask with `--ask robust=trace`".to_owned(),
    })
}
