//! The load-buffer engine: exact for finite data under TSO and PSO, buffers and loops unbounded.
//!
//! Writes reach memory at once; instead of the store, the process's *view* lags: it may read values that were sampled
//! from memory earlier ([`lag`](super::lag) has the rules and the order). Equivalent to the store buffers for
//! reachability, and well-structured, so that the backward search ends. What makes it fast are static facts
//! ([`facts`](super::facts)). A violation is turned into a run of the store buffers and replayed.
//!
//! | file | idea |
//! |---|---|
//! | [`optional`] | fences that may be there or not |
//! | [`proof`] | what a safe search leaves behind, in plain terms |

mod optional;
pub mod proof;

use crate::engine::automaton::{Automaton, ProcessAutomaton, RegisterFree, Unmade};
use crate::engine::backward::lag::constraint::ABSENT;
use crate::engine::backward::lag::run::warp;
use crate::engine::backward::lag::system::{LoadBuffers, Machine, Rule};
use crate::engine::backward::lag::{READ_BACK, SYMMETRY, VALUE_SETS, VIEW_STEPS, fits, reducing};
use crate::engine::backward::timeline::Beginning;
use crate::engine::backward::told::{answer, automaton, told, unsafe_or_unknown};
use crate::engine::backward::{End, Search};
use crate::engine::observer::{is_observable, observed};
use crate::engine::{Answer, Card, Engine, Reduction, Repairs, RestsOn, StopReason, Task, Unsupported, Verdict};
use crate::program::ProcessId;
use crate::system::Run;
use crate::util::Idx;
use crate::watch::{Monitor, Part};

pub use optional::{Found, Labels, clauses};

/// The load-buffer engine.
#[derive(Clone, Copy, Debug)]
pub struct LoadBuffer;

static CARD: Card = Card {
    name: "load-buffer",
    about: "backward search over load buffers (Abdulla, Atig, Bouajjani, Ngo 2018); exact for finite data",
    reductions: &[
        Reduction::DEAD_REGISTERS,
        Reduction::LOCAL_STEPS,
        Reduction::BISIMILAR,
        VIEW_STEPS,
        Reduction::LAG_REGION,
        Reduction::LAST_WRITES,
        Reduction::SINGLE_WRITER,
        Reduction::ABSENT,
        VALUE_SETS,
        READ_BACK,
        SYMMETRY,
    ],
    settings: &[],
    contradiction: |_| None,
    repairs: Repairs::ByRuns,
    rests_on: RestsOn::Basis,
    asks_others: false,
};

impl Engine for LoadBuffer {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        task.is_closed()?;
        task.buffering()?;
        fits(task)?;
        is_observable(task)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        monitor.begins(Part::Engine(self.name()));
        task.is_closed()?;
        observed(task, |task| self.search(task, monitor))
    }
}

impl LoadBuffer {
    fn search(self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        let machine = Machine::of(task.buffering()?);
        fits(task)?;
        let automaton = automaton(task)?;
        let program = match RegisterFree::new(task, &automaton, monitor) {
            Ok(program) => program,
            Err(unmade) => return unmade.answered(self.name()),
        };
        let system = match LoadBuffers::new(
            task.program,
            &program,
            machine,
            reducing(task.options).for_listed(machine),
            monitor,
        ) {
            Ok(system) => system,
            Err(stop) => return Unmade::Stopped(stop).answered(self.name()),
        };
        let mut search = Search::new(system);
        let verdict = match search.run(task.options.threads, monitor) {
            End::Safe => Verdict::Safe,
            End::Stopped(reason) => Verdict::Unknown(reason),
            End::Unsafe(rules) => unsafe_or_unknown(run_of(task, &automaton, &program, &search, &rules)),
        };
        Ok(answer(self.name(), &search, verdict))
    }
}

/// The run that rules stand for, replayed.
fn run_of(
    task: &Task<'_>,
    automaton: &Automaton<'_>,
    program: &RegisterFree,
    search: &Search<LoadBuffers<'_>>,
    rules: &[Rule],
) -> Result<Run, StopReason> {
    let first = search.last().expect("the initial constraint was the last to be added");
    let system = search.system();
    let state = |(process, automaton): (ProcessId, &ProcessAutomaton)| match first[process.index()] {
        ABSENT => *automaton.initial.keys().next().expect("a process starts somewhere"),
        state => state,
    };
    let cells = system.memory(first);
    let memory = program.initial.iter_enumerated().map(|(x, initial)| {
        let fits = |&&value: &&u16| system.encoding.contains(x, cells[x.index()], value);
        *initial.iter().find(fits).expect("the constraint holds an initial configuration")
    });
    let beginning =
        Beginning { states: program.processes.iter_enumerated().map(state).collect(), memory: memory.collect() };
    let (path, fault) = warp(system, &beginning, &system.straightened(rules));
    told(task, automaton, program, path, fault)
}
