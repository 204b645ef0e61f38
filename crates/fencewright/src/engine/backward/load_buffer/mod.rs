//! The load-buffer engine: exact for finite data under TSO and PSO, buffers and loops unbounded.
//!
//! Writes reach memory at once; instead of the store, the process's *view* lags: it may read values that were sampled
//! from memory earlier ([`system`] has the rules, [`constraint`] the order). Equivalent to the store buffers for
//! reachability, and well-structured, so that the backward search ends. What makes it fast are static facts
//! ([`facts`]). A violation is turned into a run of the store buffers ([`run`]) and replayed.

pub(in crate::engine::backward) mod bad;
mod constraint;
pub(in crate::engine::backward) mod facts;
pub mod proof;
mod run;
mod stage;
pub(in crate::engine::backward) mod system;

use crate::engine::automaton::{Automaton, Merging, RegisterFree};
use crate::engine::backward::{End, Search};
use crate::engine::run::replayed;
use crate::engine::{Answer, Engine, Monitor, Options, Reduction, Stats, StopReason, Task, Unsupported, Verdict};
use crate::memory::Model;
use crate::program::{ProcessId, PropertyId};
use crate::system::{Run, Violation};
use crate::util::Idx;

use constraint::{ABSENT, STAR};
use run::{Beginning, Warped, warp};
use system::{LoadBuffers, Reducing, Rule, Stage};

/// The load-buffer engine.
#[derive(Clone, Copy, Debug)]
pub struct LoadBuffer;

const REDUCTIONS: &[Reduction] = &[
    Reduction { name: "dead-registers", about: "registers that are never read again are reset" },
    Reduction { name: "local-steps", about: "steps on registers only run at once" },
    Reduction {
        name: "view-steps",
        about: "memory is sampled only before writes, own writes are dropped only after reads",
    },
    Reduction { name: "lag-region", about: "a thread's view lags only between a write and a read" },
    Reduction { name: "last-writes", about: "own writes in a buffer are the last ones, in their order" },
    Reduction { name: "single-writer", about: "memory that one thread writes holds what it wrote last" },
    Reduction { name: "absent", about: "threads that do not matter are left open" },
];

impl Engine for LoadBuffer {
    fn name(&self) -> &'static str {
        "load-buffer"
    }

    fn about(&self) -> &'static str {
        "backward search over load buffers (Abdulla, Atig, Bouajjani, Ngo 2018); exact for finite data"
    }

    fn reductions(&self) -> &'static [Reduction] {
        REDUCTIONS
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        let stage = match task.model {
            Model::Tso => Stage::None,
            Model::Pso => Stage::PerLocation(task.options.dialect.pso_rmw),
            Model::Sc => {
                return Err(Unsupported {
                    reason: "under sc there is nothing for load buffers to do".to_owned(),
                    help: "use `--engine explicit`".to_owned(),
                });
            }
        };
        let is_on = |name: &str| task.options.is_on(name);
        let merging = Merging { dead_registers: is_on("dead-registers"), local_steps: is_on("local-steps") };
        let automaton = Automaton::new(task, merging);
        let program = RegisterFree::new(task, &automaton)?;
        let system = LoadBuffers::new(task.program, &program, stage, reducing(task.options));
        let mut search = Search::new(system);
        let end = search.run(monitor);
        let verdict = match end {
            End::Safe => Verdict::Safe,
            End::Stopped(reason) => Verdict::Unknown(reason),
            End::Unsafe(rules) => match told(task, &automaton, &program, &search, &rules) {
                Ok(run) => Verdict::Unsafe(Box::new(run)),
                Err(reason) => Verdict::Unknown(reason),
            },
        };
        let (kept, explored, bytes) = (search.n_kept(), search.n_explored, search.bytes());
        Ok(Answer { engine: self.name(), verdict, stats: Stats { explored, kept, bytes, is_shortest: false } })
    }
}

fn reducing(options: &Options) -> Reducing {
    Reducing {
        view_steps: options.is_on("view-steps"),
        lag_region: options.is_on("lag-region"),
        last_writes: options.is_on("last-writes"),
        single_writer: options.is_on("single-writer"),
        absent: options.is_on("absent"),
    }
}

/// The run that rules stand for, replayed.
fn told(
    task: &Task<'_>,
    automaton: &Automaton<'_>,
    program: &RegisterFree,
    search: &Search<LoadBuffers<'_>>,
    rules: &[Rule],
) -> Result<Run, StopReason> {
    let first = search.last().expect("the initial constraint was the last to be added");
    let n_before_memory = search.system().n_before_memory();
    let state =
        |(process, automaton): (ProcessId, &crate::engine::automaton::ProcessAutomaton)| match first[process.index()] {
            ABSENT => *automaton.initial.keys().next().expect("a process starts somewhere"),
            state => state,
        };
    let memory = program.initial.iter_enumerated().map(|(x, initial)| match first[n_before_memory + x.index()] {
        STAR => u32::from(initial[0]),
        cell => cell,
    });
    let beginning =
        Beginning { states: program.processes.iter_enumerated().map(state).collect(), memory: memory.collect() };
    let Warped { path, fault } = warp(program, &beginning, rules);
    let violations: Vec<Violation> = match fault {
        Some(fault) => vec![Violation::Fault(fault)],
        None => {
            (0..task.program.properties().len()).map(|id| Violation::Property(PropertyId::from_usize(id))).collect()
        }
    };
    let mut last = StopReason::Defect("no property is violated at the end of the run".to_owned());
    for violation in violations {
        match replayed(task, automaton, path.clone(), violation) {
            Ok(run) => return Ok(run),
            Err(reason) => last = reason,
        }
    }
    Err(last)
}
