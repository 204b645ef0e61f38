//! Partial write serialization: exact for finite data under PSO, buffers and loops unbounded.
//!
//! Lång, _Sound and Complete Reachability Analysis under PSO_, Uppsala 2013. Each process has a store buffer for each
//! location; what leaves it is serialized into one channel of memory snapshots, into which each process has a pointer
//! that says how far memory has come for it ([`system`] has the rules, [`constraint`] the order). Equivalent to the
//! store buffers of PSO for reachability, which the paper conjectures, and well-structured, so that the backward search
//! ends. Snapshots make constraints large: the engine is a second opinion on the load-buffer engine, with which it
//! shares the static facts and nothing else, and gives up on what is too large for it. A violation is turned into a run
//! of the store buffers ([`run`]) and replayed.

mod constraint;
mod last_writes;
mod run;
mod stores;
mod system;
#[cfg(test)]
mod tests;

use crate::engine::automaton::{Automaton, RegisterFree};
use crate::engine::backward::told::{answer, automaton, told, unsafe_or_unknown};
use crate::engine::backward::{End, Search};
use crate::engine::{Answer, Engine, Options, Reduction, StopReason, Task, Unsupported, Verdict};
use crate::memory::Buffering;
use crate::system::Run;
use crate::watch::{Budget, Monitor};

use run::unroll;
use system::{PartialWriteSerialization, Reducing};

/// Partial write serialization.
#[derive(Clone, Copy, Debug)]
pub struct Pws;

/// It gives up after this many constraints, known or looked at: beyond, the load-buffer engine is the one to ask.
const MAX_CONSTRAINTS: u64 = 50_000;

const REDUCTIONS: &[Reduction] = &[
    Reduction { name: "dead-registers", about: "registers that are never read again are reset" },
    Reduction { name: "local-steps", about: "steps on registers only run at once" },
    Reduction { name: "bisimilar", about: "local states that behave alike are one" },
    Reduction { name: "update-steps", about: "pointers move only along with a write or after reads" },
    Reduction { name: "lag-region", about: "a thread's view lags only between a store-store fence and a read" },
    Reduction { name: "last-writes", about: "pending and own writes are the last ones, in their order" },
    Reduction { name: "single-writer", about: "memory that one thread writes holds what it wrote last" },
    Reduction { name: "suffix-equality", about: "after the last write to a location all snapshots agree on it" },
];

impl Engine for Pws {
    fn name(&self) -> &'static str {
        "pws"
    }

    fn about(&self) -> &'static str {
        "backward search with partial write serialization (Lång 2013); exact for small programs under PSO"
    }

    fn reductions(&self) -> &'static [Reduction] {
        REDUCTIONS
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        let rmw = match task.buffering()? {
            Buffering::PerLocation(rmw) => rmw,
            Buffering::None | Buffering::Fifo => {
                return Err(Unsupported {
                    reason: format!("the pws engine does not know {}", task.model),
                    help: "use `--engine load-buffer`, which knows all models".to_owned(),
                });
            }
        };
        let automaton = automaton(task)?;
        let program = RegisterFree::new(task, &automaton)?;
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

fn reducing(options: &Options) -> Reducing {
    Reducing {
        update_steps: options.is_on("update-steps"),
        lag_region: options.is_on("lag-region"),
        last_writes: options.is_on("last-writes"),
        single_writer: options.is_on("single-writer"),
        suffix_equality: options.is_on("suffix-equality"),
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
