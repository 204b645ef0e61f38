//! The single-buffer engine: exact for finite data under TSO, buffers and loops unbounded.
//!
//! Abdulla, Atig, Chen, Leonardsson, Rezine, _Counter-example guided fence insertion under TSO_, TACAS 2012. All
//! processes share one buffer of memory snapshots; each has a pointer into it, which says how far memory has come for
//! it ([`system`] has the rules, [`constraint`] the order). Equivalent to the store buffers for reachability, and
//! well-structured, so that the backward search ends. Snapshots make constraints large and many: the engine is a second
//! opinion on the load-buffer engine, with which it shares the static facts and nothing else, and gives up on what is
//! too large for it. A violation is turned into a run of the store buffers ([`run`]) and replayed.

mod constraint;
mod run;
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
use system::{Reducing, SingleBuffer};

/// The single-buffer engine.
#[derive(Clone, Copy, Debug)]
pub struct SingleBufferEngine;

/// It gives up after this many constraints, known or looked at: beyond, the load-buffer engine is the one to ask.
const MAX_CONSTRAINTS: u64 = 200_000;

const REDUCTIONS: &[Reduction] = &[
    Reduction { name: "dead-registers", about: "registers that are never read again are reset" },
    Reduction { name: "local-steps", about: "steps on registers only run at once" },
    Reduction { name: "bisimilar", about: "local states that behave alike are one" },
    Reduction { name: "update-steps", about: "pointers move only along with a write or after reads" },
    Reduction { name: "lag-region", about: "a thread's view lags only between a write and a read" },
    Reduction { name: "last-writes", about: "own writes in a buffer are the last ones, in their order" },
    Reduction { name: "single-writer", about: "memory that one thread writes holds what it wrote last" },
    Reduction { name: "suffix-equality", about: "after the last write to a location all snapshots agree on it" },
    Reduction { name: "absent", about: "threads that do not matter are left open" },
];

impl Engine for SingleBufferEngine {
    fn name(&self) -> &'static str {
        "single-buffer"
    }

    fn about(&self) -> &'static str {
        "backward search over one buffer of snapshots (Abdulla et al. 2012); exact for small programs under TSO"
    }

    fn reductions(&self) -> &'static [Reduction] {
        REDUCTIONS
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        match task.buffering()? {
            Buffering::Fifo => {}
            Buffering::None | Buffering::PerLocation(_) => {
                return Err(Unsupported {
                    reason: format!("the single-buffer engine does not know {}", task.model),
                    help: "use `--engine explicit`".to_owned(),
                });
            }
        }
        let automaton = automaton(task)?;
        let program = RegisterFree::new(task, &automaton)?;
        let mut search = Search::new(SingleBuffer::new(task.program, &program, reducing(task.options)));
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
        absent: options.is_on("absent"),
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
