//! A hang that a short search finds: worth a warning where nobody asked.

use crate::engine::look::glance;
use crate::engine::{Question, Task, Verdict};
use crate::program::Program;
use crate::system::Run;
use crate::watch::{Monitor, Progress, Stop};

use super::{Hang, Waiting, waiting};

/// So many states are looked at.
const MAX_STATES: u64 = 500;

/// Threads whose local states take more than this are not looked at.
const MAX_BYTES: u64 = 1 << 16;

/// Nor are threads with so many ways to go round that so many steps are looked at.
const MAX_STEPS: u64 = 5_000;

/// Nor are more situations than this: every state would be compared with all of them.
const MAX_SITUATIONS: usize = 64;

/// A hang in which some thread goes round for ever, if one is found soon: the program with it as a property, and the
/// run. A thread that is blocked for ever alone is no reason: `assume` is also how runs are left out.
pub fn hangs_soon(task: &Task<'_>, monitor: &dyn Monitor) -> Option<(Program, Run)> {
    let may_wait = task.program.no_hang().map_or(Vec::new(), |it| it.except.clone());
    let asked = Hang::new(may_wait).reduce(task, &Small(monitor)).ok()?.program;
    if asked.properties().iter().any(|it| it.situations.is_empty() || it.situations.len() > MAX_SITUATIONS) {
        return None;
    }
    match glance(&Task { program: &asked, ..*task }, MAX_STATES, monitor)? {
        Verdict::Unsafe(run) if waiting(&asked, &run).iter().any(Waiting::goes_round) => Some((asked, *run)),
        Verdict::Safe | Verdict::Unsafe(_) | Verdict::Unknown(_) => None,
    }
}

/// Has enough as soon as much is kept or looked at.
struct Small<'a>(&'a dyn Monitor);

impl Monitor for Small<'_> {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        let is_much = progress.bytes > MAX_BYTES || progress.explored > MAX_STEPS;
        self.0.poll(progress).or_else(|| is_much.then_some(Stop::Spent(progress.explored)))
    }
}
