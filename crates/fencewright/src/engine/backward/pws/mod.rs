//! Partial write serialization: exact for finite data under PSO, buffers and loops unbounded.
//!
//! Lång, _Sound and Complete Reachability Analysis under PSO_, Uppsala 2013. Each process has a store buffer for each
//! location; what leaves it is serialized into one channel of memory snapshots, into which each process has a pointer
//! that says how far memory has come for it ([`system`] has the rules, [`constraint`] the order). Equivalent to the
//! store buffers of PSO for reachability, which the paper conjectures, and well-structured, so that the backward search
//! ends. Snapshots make constraints large: the engine is a second opinion on the load-buffer engine, with which it
//! shares the static facts and nothing else, and gives up on what is too large for it. A violation is turned into a run
//! of the store buffers ([`run`]) and replayed.
//!
//! | file | idea |
//! |---|---|
//! | [`constraint`] | constraints of partial write serialization, and the order on them |
//! | [`last_writes`] | the last writes of a process, in groups between store-store fences |
//! | [`run`] | from a path of the search to a run of the store-buffer semantics |
//! | [`stores`] | the store buffers of PSO, one for each process and location, and the order on them |
//! | [`system`] | partial write serialization as a well-structured system |

mod constraint;
mod last_writes;
mod run;
mod stores;
mod system;
#[cfg(test)]
mod tests;

use crate::engine::automaton::{Automaton, RegisterFree, Unmade};
use crate::engine::backward::bad::announce;
use crate::engine::backward::told::{answer, automaton, told, unsafe_or_unknown};
use crate::engine::backward::{End, Search};
use crate::engine::observer::{is_observable, observed};
use crate::engine::{
    Answer, Card, Engine, Options, Reduction, Repairs, RestsOn, StopReason, Task, Unsupported, Verdict,
};
use crate::memory::{Buffering, PsoRmw};
use crate::system::Run;
use crate::watch::{Budget, Monitor, Part};

use run::unroll;
use system::{PartialWriteSerialization, Reducing};

/// Partial write serialization.
#[derive(Clone, Copy, Debug)]
pub struct Pws;

/// It gives up after this many constraints, known or looked at: beyond, the load-buffer engine is the one to ask.
const MAX_CONSTRAINTS: u64 = 50_000;

const LAG_REGION: Reduction = Reduction {
    name: Reduction::LAG_REGION.name,
    about: "a thread's view lags only between a store-store fence and a read",
};
const LAST_WRITES: Reduction =
    Reduction { name: Reduction::LAST_WRITES.name, about: "pending and own writes are the last ones, in their order" };

static CARD: Card = Card {
    name: "pws",
    about: "backward search with partial write serialization (Lång 2013); exact for small programs under PSO",
    reductions: &[
        Reduction::DEAD_REGISTERS,
        Reduction::LOCAL_STEPS,
        Reduction::BISIMILAR,
        Reduction::UPDATE_STEPS,
        LAG_REGION,
        LAST_WRITES,
        Reduction::SINGLE_WRITER,
        Reduction::SUFFIX_EQUALITY,
    ],
    settings: &[],
    contradiction: |_| None,
    repairs: Repairs::ByRuns,
    rests_on: RestsOn::Basis,
    asks_others: false,
};

impl Engine for Pws {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        task.is_closed()?;
        updates(task)?;
        is_observable(task)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        monitor.begins(Part::Engine(self.name()));
        task.is_closed()?;
        observed(task, |task| self.search(task, monitor))
    }
}

impl Pws {
    fn search(self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        let rmw = updates(task)?;
        let automaton = automaton(task)?;
        let program = match RegisterFree::new(task, &automaton, monitor) {
            Ok(program) => program,
            Err(unmade) => return unmade.answered(self.name()),
        };
        if let Err(stop) = announce(task.program, &program, false, monitor) {
            return Unmade::Stopped(stop).answered(self.name());
        }
        let system = PartialWriteSerialization::new(task.program, &program, rmw, reducing(task.options));
        let mut search = Search::new(system);
        let verdict = match search.run(task.options.threads, &Budget { monitor, max: MAX_CONSTRAINTS }) {
            End::Safe => Verdict::Safe,
            End::Stopped(reason) => Verdict::Unknown(reason),
            End::Unsafe(_) => unsafe_or_unknown(run_of(task, &automaton, &program, &search)),
        };
        Ok(answer(self.name(), &search, verdict))
    }
}

/// What an atomic update waits for.
fn updates(task: &Task<'_>) -> Result<PsoRmw, Unsupported> {
    match task.buffering()? {
        Buffering::PerLocation(rmw) => Ok(rmw),
        Buffering::None | Buffering::Fifo => Err(Unsupported {
            reason: format!("the pws engine does not know {}", task.model),
            help: "use `--engine load-buffer`, which knows all models".to_owned(),
        }),
    }
}

fn reducing(options: &Options) -> Reducing {
    Reducing {
        update_steps: options.is_on(Reduction::UPDATE_STEPS),
        lag_region: options.is_on(LAG_REGION),
        last_writes: options.is_on(LAST_WRITES),
        single_writer: options.is_on(Reduction::SINGLE_WRITER),
        suffix_equality: options.is_on(Reduction::SUFFIX_EQUALITY),
    }
}

/// The run that the search has found, replayed.
fn run_of(
    task: &Task<'_>,
    automaton: &Automaton<'_>,
    program: &RegisterFree,
    search: &Search<PartialWriteSerialization<'_>>,
) -> Result<Run, StopReason> {
    let first = search.last().expect("the initial constraint was the last to be added");
    let Some((path, fault)) = unroll(program, first, &search.path()) else {
        return Err(StopReason::Defect("the path of the search cannot be followed".to_owned()));
    };
    told(task, automaton, program, path, fault)
}
