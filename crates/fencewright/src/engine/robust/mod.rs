//! Robustness: does the program behave under the model as it does under sequential consistency?
//!
//! No property is needed, and "not robust" is no bug by itself: it says that reordering shows, not that it hurts. There
//! are two grades:
//!
//! | | the program is robust if | decided by |
//! |---|---|---|
//! | `state` | it comes to no control vector, registers included, that is new | an engine: a question of safety |
//! | `trace` | every execution graph is one of sequential consistency | searching for an attack |
//!
//! Robust by traces implies robust by states. Registers that the compiler made count as long as they are still read.
//!
//! | file | idea |
//! |---|---|
//! | [`known`] | what sequential consistency reaches |
//! | [`state`] | the first that is new, as a property |
//! | [`attack`] | one thread delays a store, others make that show |
//! | [`promising`] | which stores are worth delaying |
//! | [`search`] | all attacks at once, under sequential consistency |
//! | [`sooner`] | states that are settled by looking for attacks |

mod attack;
mod known;
mod promising;
mod search;
mod sooner;
mod state;

use crate::engine::automaton::{Automaton, LocalSteps, Merging, RegisterFree};
use crate::engine::run::{Trimming, replayed};
use crate::engine::{
    Answer, Card, Engine, Question, Reduced, Repairs, RestsOn, Stats, Task, Unmade, Unsupported, Verdict, is_enumerable,
};
use crate::memory::{Buffering, Model};
use crate::program::{BinaryOp, Expr, Program, Property, PropertyId, PropertyKind, PropertyWords, Situation, StateVar};
use crate::source::Span;
use crate::system::Violation;
use crate::watch::Monitor;

use search::{End, Search};

pub use sooner::{ask_robust, beside_sooner};

/// The name of the question for control vectors.
pub const ROBUST: &str = "robust";

/// Does the program come to no control vector, registers included, that it does not come to under sequential
/// consistency?
#[derive(Clone, Copy, Debug, Default)]
pub struct Robust;

impl Robust {
    /// The program with the question beside its own properties: both are asked at once.
    ///
    /// # Errors
    /// It makes no sense of the program, or the monitor has had enough.
    pub fn beside(task: &Task<'_>, monitor: &dyn Monitor) -> Result<Program, Unmade> {
        task.is_closed().map_err(Unmade::Unsupported)?;
        let own = task.program.properties().iter().cloned();
        Ok(task.program.with_properties(own.chain([Self::property(task, monitor)?])))
    }

    /// The question as a property: the same for every model.
    fn property(task: &Task<'_>, monitor: &dyn Monitor) -> Result<Property, Unmade> {
        Ok(Self::forbidding(Self::situations(task, monitor)?))
    }

    fn forbidding(situations: Vec<Situation>) -> Property {
        Property {
            kind: PropertyKind::Robust,
            situations,
            text: "a situation that sequential consistency does not reach".to_owned(),
            words: PropertyWords { name: Some(ROBUST.to_owned()), ..PropertyWords::default() },
            span: Span::default(),
        }
    }

    fn situations(task: &Task<'_>, monitor: &dyn Monitor) -> Result<Vec<Situation>, Unmade> {
        is_enumerable(task.program)?;
        let program = keeping_registers(&alone(task.program));
        let plain = Task::new(&program, Model::STRONGEST, task.options);
        let merging = Merging { dead_registers: true, local_steps: LocalSteps::None, bisimilar: false };
        let automaton = Automaton::new(&plain, merging);
        let free = RegisterFree::new(&plain, &automaton, monitor)?;
        state::situations(&plain, &free, monitor)
    }
}

impl Question for Robust {
    fn name(&self) -> &'static str {
        ROBUST
    }

    fn about(&self) -> &'static str {
        "does it come to no situation of control and registers that sequential consistency does not come to?"
    }

    fn reduce(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Reduced, Unmade> {
        let property = Self::property(task, monitor)?;
        Ok(Reduced::to_properties(task, alone(task.program).with_properties([property])))
    }
}

/// The program with a property that sees every register of the text, and never holds: so they are never dead.
fn keeping_registers(program: &Program) -> Program {
    let registers = program.processes().iter_enumerated().flat_map(|(process, it)| {
        let of_text = it.registers.iter_enumerated().filter(|(_, register)| !register.name.starts_with('$'));
        of_text.map(move |(register, _)| Expr::Var(StateVar::Register(process, register)))
    });
    let condition = registers.fold(Expr::Const(0), |all, register| Expr::binary(BinaryOp::And, all, register));
    program.with_properties([Property {
        kind: PropertyKind::Control,
        situations: vec![Situation { at: Vec::new(), condition }],
        text: String::new(),
        words: PropertyWords::default(),
        span: Span::default(),
    }])
}

/// The name of the question for execution graphs.
pub const ROBUST_TRACE: &str = "robust=trace";

const NOT_SEQUENTIAL: &str = "an execution that sequential consistency does not have";

/// Is every execution graph one of sequential consistency? The engine [`Attacks`] knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct RobustTrace;

impl RobustTrace {
    /// The question as a property.
    fn property() -> Property {
        Property {
            kind: PropertyKind::Trace,
            situations: Vec::new(),
            text: NOT_SEQUENTIAL.to_owned(),
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

/// The question as a property, under a model whose states tell it.
pub(in crate::engine) fn trace_property() -> Property {
    Property::of_execution(PropertyKind::Trace, ROBUST_TRACE, NOT_SEQUENTIAL)
}

impl Question for RobustTrace {
    fn name(&self) -> &'static str {
        ROBUST_TRACE
    }

    fn about(&self) -> &'static str {
        "is every execution, by who reads what from whom, one of sequential consistency?"
    }

    fn reduce(&self, task: &Task<'_>, _: &dyn Monitor) -> Result<Reduced, Unmade> {
        let property = if task.model.language().is_some() { trace_property() } else { Self::property() };
        Ok(Reduced::to_properties(task, alone(task.program).with_properties([property])))
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

impl Attacks {
    /// Its name.
    pub const NAME: &str = "attacks";
}

static CARD: Card = Card {
    name: Attacks::NAME,
    about: "one thread delays a store, others make that show: searched under sequential consistency",
    reductions: &[],
    settings: &[],
    contradiction: |_| None,
    repairs: Repairs::ByRuns,
    rests_on: RestsOn::Other,
    asks_others: true,
};

impl Engine for Attacks {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        task.is_closed()?;
        task.buffering()?;
        asked_in(task.program)?;
        is_enumerable(task.program)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        self.takes(task)?;
        let (buffering, property) = (task.buffering()?, asked_in(task.program)?);
        let asks_more =
            task.program.properties().len() > 1 || task.program.edges().iter().any(|edge| edge.op.has_assertion());
        if asks_more {
            let answer = self.others.check(task, monitor)?;
            if !matches!(answer.verdict, Verdict::Safe) {
                return Ok(answer);
            }
        }
        if buffering == Buffering::None {
            return Ok(Answer { engine: self.name(), verdict: Verdict::Safe, stats: Stats::default() });
        }
        let merging = Merging { dead_registers: true, local_steps: LocalSteps::All, bisimilar: false };
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
