//! The single-buffer engine: exact for finite data under TSO, buffers and loops unbounded.
//!
//! Abdulla, Atig, Chen, Leonardsson, Rezine, _Counter-example guided fence insertion under TSO_, TACAS 2012. All
//! processes share one buffer of memory snapshots; each has a pointer into it, which says how far memory has come for
//! it ([`system`] has the rules, [`constraint`] the order). Equivalent to the store buffers for reachability, and
//! well-structured, so that the backward search ends. Snapshots make constraints large and many: the engine is a second
//! opinion on the load-buffer engine, with which it shares the static facts and nothing else, and gives up on what is
//! too large for it. A violation is turned into a run of the store buffers ([`run`]) and replayed.
//!
//! | file | idea |
//! |---|---|
//! | [`constraint`] | constraints of the single-buffer semantics, and the order on them |
//! | [`run`] | from a path of the single-buffer search to a run of the store-buffer semantics |
//! | [`system`] | the single-buffer semantics as a well-structured system |

mod constraint;
mod run;
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
use crate::memory::Buffering;
use crate::system::Run;
use crate::watch::{Budget, Monitor, Part};

use run::unroll;
use system::{Reducing, SingleBuffer};

/// The single-buffer engine.
#[derive(Clone, Copy, Debug)]
pub struct SingleBufferEngine;

/// It gives up after this many constraints, known or looked at: beyond, the load-buffer engine is the one to ask.
const MAX_CONSTRAINTS: u64 = 200_000;

static CARD: Card = Card {
    name: "single-buffer",
    about: "backward search over one buffer of snapshots (Abdulla et al. 2012); exact for small programs under TSO",
    reductions: &[
        Reduction::DEAD_REGISTERS,
        Reduction::LOCAL_STEPS,
        Reduction::BISIMILAR,
        Reduction::UPDATE_STEPS,
        Reduction::LAG_REGION,
        Reduction::LAST_WRITES,
        Reduction::SINGLE_WRITER,
        Reduction::SUFFIX_EQUALITY,
        Reduction::ABSENT,
    ],
    settings: &[],
    contradiction: |_| None,
    repairs: Repairs::ByRuns,
    rests_on: RestsOn::Basis,
    asks_others: false,
};

impl Engine for SingleBufferEngine {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        task.is_closed()?;
        match task.buffering()? {
            Buffering::Fifo => is_observable(task),
            Buffering::None | Buffering::PerLocation(_) => Err(Unsupported {
                reason: format!("the single-buffer engine does not know {}", task.model),
                help: "use `--engine explicit`".to_owned(),
            }),
        }
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        monitor.begins(Part::Engine(self.name()));
        self.takes(task)?;
        observed(task, |task| self.search(task, monitor))
    }
}

impl SingleBufferEngine {
    fn search(self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        let automaton = automaton(task)?;
        let program = match RegisterFree::new(task, &automaton, monitor) {
            Ok(program) => program,
            Err(unmade) => return unmade.answered(self.name()),
        };
        let reducing = reducing(task.options);
        if let Err(stop) = announce(task.program, &program, reducing.absent, monitor) {
            return Unmade::Stopped(stop).answered(self.name());
        }
        let mut search = Search::new(SingleBuffer::new(task.program, &program, reducing));
        let verdict = match search.run(task.options.threads, &Budget { monitor, max: MAX_CONSTRAINTS }) {
            End::Safe => Verdict::Safe,
            End::Stopped(reason) => Verdict::Unknown(reason),
            End::Unsafe(_) => unsafe_or_unknown(run_of(task, &automaton, &program, &search)),
        };
        Ok(answer(self.name(), &search, verdict))
    }
}

fn reducing(options: &Options) -> Reducing {
    Reducing {
        update_steps: options.is_on(Reduction::UPDATE_STEPS),
        lag_region: options.is_on(Reduction::LAG_REGION),
        last_writes: options.is_on(Reduction::LAST_WRITES),
        single_writer: options.is_on(Reduction::SINGLE_WRITER),
        suffix_equality: options.is_on(Reduction::SUFFIX_EQUALITY),
        absent: options.is_on(Reduction::ABSENT),
    }
}

/// The run that the search has found, replayed.
fn run_of(
    task: &Task<'_>,
    automaton: &Automaton<'_>,
    program: &RegisterFree,
    search: &Search<SingleBuffer<'_>>,
) -> Result<Run, StopReason> {
    let first = search.last().expect("the initial constraint was the last to be added");
    let Some((path, fault)) = unroll(program, first, &search.path()) else {
        return Err(StopReason::Defect("the path of the search cannot be followed".to_owned()));
    };
    told(task, automaton, program, path, fault)
}
