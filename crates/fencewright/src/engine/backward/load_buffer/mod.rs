//! The load-buffer engine: exact for finite data under TSO and PSO, buffers and loops unbounded.
//!
//! Writes reach memory at once; instead of the store, the process's *view* lags: it may read values that were sampled
//! from memory earlier ([`system`] has the rules, [`constraint`] the order). Equivalent to the store buffers for
//! reachability, and well-structured, so that the backward search ends. What makes it fast are static facts
//! ([`facts`](super::facts)). A violation is turned into a run of the store buffers ([`run`]) and replayed.
//!
//! | file | idea |
//! |---|---|
//! | [`admit`] | what the static facts and the symmetry make of a predecessor before it is looked up |
//! | [`choices`] | edges of a process that differ only in the value they find, taken as one |
//! | [`constraint`] | constraints of the load-buffer semantics, and the order on them |
//! | [`optional`] | fences that may be there or not |
//! | [`proof`] | what a safe search leaves behind, in plain terms |
//! | [`read_back`] | which writes of its own a process can still tell from others |
//! | [`run`] | from rules of the load-buffer semantics to a run of the store-buffer semantics |
//! | [`sharpen`] | the static facts as sets of values |
//! | [`stage`] | the store stage of PSO |
//! | [`system`] | the load-buffer semantics as a well-structured system |
//! | [`turning`] | one constraint for all that differ only in which of some interchangeable processes is which |
//! | [`values`] | sets of values of a location, in one word |
//! | [`views`] | predecessors by reads, writes, samples and deletions |

mod admit;
mod choices;
mod constraint;
mod optional;
pub mod proof;
mod read_back;
mod run;
mod sharpen;
mod stage;
mod system;
mod turning;
mod values;
mod views;

use crate::engine::automaton::{Automaton, ProcessAutomaton, RegisterFree, Unmade};
use crate::engine::backward::timeline::Beginning;
use crate::engine::backward::told::{answer, automaton, told, unsafe_or_unknown};
use crate::engine::backward::{End, Search};
use crate::engine::observer::{is_observable, observed};
use crate::engine::{
    Answer, Card, Engine, Options, Reduction, Repairs, RestsOn, StopReason, Task, Unsupported, Verdict,
};
use crate::program::ProcessId;
use crate::system::Run;
use crate::util::Idx;
use crate::watch::{Monitor, Part};

use constraint::{ABSENT, Message};
pub use optional::{Found, Labels, clauses};
use run::warp;
use system::{LoadBuffers, Machine, Reducing, Rule};

/// The load-buffer engine.
#[derive(Clone, Copy, Debug)]
pub struct LoadBuffer;

const VIEW_STEPS: Reduction = Reduction {
    name: "view-steps",
    about: "memory is sampled only before writes, own writes are dropped only after reads",
};
const VALUE_SETS: Reduction =
    Reduction { name: "value-sets", about: "steps that differ only in the value they find are one" };
const READ_BACK: Reduction =
    Reduction { name: "read-back", about: "own writes count only while their thread may read them or wait for them" };
const SYMMETRY: Reduction =
    Reduction { name: "symmetry", about: "constraints that differ in which of like threads is which are one" };

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
        task.buffering()?;
        fits(task)?;
        is_observable(task)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        monitor.begins(Part::Engine(self.name()));
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
        let system = match LoadBuffers::new(task.program, &program, machine, reducing(task.options), monitor) {
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

/// Whether messages can name all variables.
fn fits(task: &Task<'_>) -> Result<(), Unsupported> {
    if task.program.locations().len() > Message::MAX_LOCATIONS {
        return Err(Unsupported {
            reason: format!("the load-buffer engine takes no more than {} variables", Message::MAX_LOCATIONS),
            help: "use `--engine explicit`".to_owned(),
        });
    }
    Ok(())
}

fn reducing(options: &Options) -> Reducing {
    Reducing {
        view_steps: options.is_on(VIEW_STEPS),
        lag_region: options.is_on(Reduction::LAG_REGION),
        last_writes: options.is_on(Reduction::LAST_WRITES),
        single_writer: options.is_on(Reduction::SINGLE_WRITER),
        absent: options.is_on(Reduction::ABSENT),
        value_sets: options.is_on(VALUE_SETS),
        read_back: options.is_on(READ_BACK),
        symmetry: options.is_on(SYMMETRY),
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
