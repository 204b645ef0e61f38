//! A short look: the forward searches, which go through many states in little time, with a budget.

use crate::engine::coherence::Coherence;
use crate::engine::explicit::Explicit;
use crate::engine::{Engine, FEW_VALUES, Stats, Task, Verdict};
use crate::watch::{Budget, Monitor};

/// What is found within so many states: safe, or a run; nothing if that is not found out.
pub(super) fn look(task: &Task<'_>, max: u64, monitor: &dyn Monitor) -> Option<(Verdict, Stats)> {
    let engines: [&dyn Engine; 2] = [&Explicit::DEFAULT, &Coherence::DEFAULT];
    // What waits in abstract buffers may be any of many values then, and a state takes long.
    let is_wide = task.program.has_wider_data_than(FEW_VALUES);
    engines[..if is_wide { 1 } else { 2 }].iter().find_map(|engine| {
        let answer = engine.check(task, &Budget { monitor, max }).ok()?;
        match answer.verdict {
            Verdict::Safe | Verdict::Unsafe(_) => Some((answer.verdict, answer.stats)),
            Verdict::Unknown(_) => None,
        }
    })
}

/// What the search through all states finds within so many of them.
pub(super) fn glance(task: &Task<'_>, max: u64, monitor: &dyn Monitor) -> Option<Verdict> {
    Explicit::DEFAULT.check(task, &Budget { monitor, max }).ok().map(|it| it.verdict)
}
