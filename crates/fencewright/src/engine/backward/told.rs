//! What the engines that search backward have in common around the search: the program they search, the run they tell.

use crate::engine::automaton::{Automaton, LocalSteps, Merging, RegisterFree};
use crate::engine::backward::{Indexed, Search};
use crate::engine::run::{Path, Trimming, replayed};
use crate::engine::{Answer, Reduction, Stats, StopReason, Task, Unsupported, Verdict};
use crate::program::PropertyId;
use crate::system::{Fault, Run, Violation};
use crate::util::Idx;

/// Sets of processes are words.
const MAX_PROCESSES: usize = 64;

/// The automaton of a task, merged as its options say.
pub(super) fn automaton<'a>(task: &Task<'a>) -> Result<Automaton<'a>, Unsupported> {
    if task.program.processes().len() > MAX_PROCESSES {
        return Err(Unsupported {
            reason: format!("the exact engines take no more than {MAX_PROCESSES} threads"),
            help: "use `--engine explicit`".to_owned(),
        });
    }
    let is_on = |reduction| task.options.is_on(reduction);
    let merging = Merging {
        dead_registers: is_on(Reduction::DEAD_REGISTERS),
        local_steps: LocalSteps::if_on(is_on(Reduction::LOCAL_STEPS)),
        bisimilar: is_on(Reduction::BISIMILAR),
    };
    Ok(Automaton::new(task, merging))
}

/// The run that a path stands for, replayed: one that goes wrong with this fault, or else violates a property.
pub(super) fn told(
    task: &Task<'_>,
    automaton: &Automaton<'_>,
    program: &RegisterFree,
    path: Path,
    fault: Option<Fault>,
) -> Result<Run, StopReason> {
    shown(task, automaton, &unmerged(program, path)?, fault)
}

/// A path through the states that were merged.
pub(super) fn unmerged(program: &RegisterFree, path: Path) -> Result<Path, StopReason> {
    program.unmerged(path).ok_or_else(|| StopReason::Defect("merged states were not bisimilar".to_owned()))
}

/// The run that a path of states that are not merged stands for, replayed.
pub(super) fn shown(
    task: &Task<'_>,
    automaton: &Automaton<'_>,
    path: &Path,
    fault: Option<Fault>,
) -> Result<Run, StopReason> {
    let properties = (0..task.program.properties().len()).map(PropertyId::from_usize);
    let violations: Vec<Violation> = match fault {
        Some(fault) => vec![Violation::Fault(fault)],
        None => properties.map(Violation::Property).collect(),
    };
    let mut last = StopReason::Defect("no property is violated at the end of the run".to_owned());
    for violation in violations {
        match replayed(task, automaton, path.clone(), violation, Trimming::Tried) {
            Ok(run) => return Ok(run),
            Err(reason) => last = reason,
        }
    }
    Err(last)
}

/// The answer that a search has led to.
pub(super) fn answer<S: Indexed>(engine: &'static str, search: &Search<S>, verdict: Verdict) -> Answer {
    let (kept, explored, bytes) = (search.n_kept(), search.n_explored, search.bytes());
    Answer { engine, verdict, stats: Stats { explored, kept, bytes, is_shortest: false } }
}

/// The verdict for a run, or for the lack of it.
pub(super) fn unsafe_or_unknown(run: Result<Run, StopReason>) -> Verdict {
    match run {
        Ok(run) => Verdict::Unsafe(Box::new(run)),
        Err(reason) => Verdict::Unknown(reason),
    }
}
