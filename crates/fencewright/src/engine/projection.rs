//! Fewer threads: a proof for some of them against any behavior of the others, for each of the things to be proved.
//!
//! ```text
//!    forbid P(0)@critical && P(1)@critical    ⟵  P(0), P(1), the others arbitrary; if that alarms, one thread more
//!    an assertion of P(2)                     ⟵  P(2), the others arbitrary; …
//! ```
//!
//! A projection ([`Program::projected`]) has all runs of the program up to their first violation. So if each situation
//! of a property is reached in no projection that keeps the threads it needs, and no operation of a thread goes wrong
//! in one that keeps it, the program is safe. Locks that give each location one writer are proved by pairs, whatever
//! the number of threads. An alarm says nothing: then this does not know.

use std::collections::BTreeSet;

use crate::engine::{Answer, Engine, Stats, StopReason, Task, Unsupported, Verdict};
use crate::memory::{Buffering, PsoRmw};
use crate::program::{LocationId, Placement, ProcessId, Program, PropertyKind, Updates};
use crate::watch::{Budget, Monitor, Part};

/// The name under which it answers.
pub const NAME: &str = "projection";

/// It is not worth it for fewer threads.
const MIN_THREADS: usize = 3;

/// No more threads are kept: that is a search of its own.
pub(crate) const MAX_KEPT: usize = 3;

/// How it is asked.
#[derive(Clone, Copy)]
pub struct Projection<'a> {
    /// Who is asked about projections.
    pub engine: &'a dyn Engine,
    /// Who is asked where other threads write integers that have no range.
    pub of_integers: &'a dyn Engine,
    /// So many states or constraints are looked at in each.
    pub max: u64,
}

/// What is asked.
#[derive(Clone, Copy)]
struct Asked<'a> {
    task: &'a Task<'a>,
    updates: Updates,
    /// Threads that are never kept.
    dropped: &'a BTreeSet<ProcessId>,
    /// Locations of which nothing is known, whoever writes them.
    foreign: &'a BTreeSet<LocationId>,
}

impl Projection<'_> {
    /// Whether some projections show that a program is safe. An unknown that is no limit says nothing.
    ///
    /// # Errors
    /// The program has few threads, or a question that projections do not answer.
    pub fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        let updates = updates(task)?;
        monitor.begins(Part::Engine(NAME));
        let mut stats = Stats::default();
        for goal in goals(task.program) {
            let asked = Asked { task, updates, dropped: &BTreeSet::new(), foreign: &BTreeSet::new() };
            let verdict = self.shown(asked, goal, &mut stats, monitor)?;
            if !matches!(verdict, Verdict::Safe) {
                return Ok(Answer { engine: NAME, verdict, stats });
            }
        }
        Ok(Answer { engine: NAME, verdict: Verdict::Safe, stats })
    }

    /// Asks about some threads, and about one more as long as there is an alarm, but never about those that are
    /// dropped.
    ///
    /// # Errors
    /// The engine does not take a projection.
    pub(super) fn shown_without(
        &self,
        task: &Task<'_>,
        goal: BTreeSet<ProcessId>,
        (dropped, foreign): (&BTreeSet<ProcessId>, &BTreeSet<LocationId>),
        monitor: &dyn Monitor,
    ) -> Result<Answer, Unsupported> {
        let mut stats = Stats::default();
        let asked = Asked { task, updates: updates(task)?, dropped, foreign };
        let verdict = self.shown(asked, goal, &mut stats, monitor)?;
        Ok(Answer { engine: NAME, verdict, stats })
    }

    /// Asks about some threads, and about one more as long as there is an alarm.
    fn shown(
        &self,
        Asked { task, updates, dropped, foreign }: Asked<'_>,
        mut kept: BTreeSet<ProcessId>,
        stats: &mut Stats,
        monitor: &dyn Monitor,
    ) -> Result<Verdict, Unsupported> {
        let n_threads = task.program.processes().len();
        loop {
            if kept.len() > MAX_KEPT || kept.len() == n_threads || !kept.is_disjoint(dropped) {
                return Ok(alarm());
            }
            let made = task.program.projection(task.placement, &kept, updates, foreign);
            let engine = if made.picks_integers { self.of_integers } else { self.engine };
            let projected = Task { program: &made.program, placement: &Placement::NONE, ..*task };
            let answer = match engine.check(&projected, &Budget { monitor, max: self.max }) {
                // Not every engine for a program is one for integers that are picked.
                Err(_) if made.picks_integers => return Ok(alarm()),
                answer => answer?,
            };
            *stats = Stats { explored: stats.explored + answer.stats.explored, ..answer.stats };
            match answer.verdict {
                Verdict::Safe => return Ok(Verdict::Safe),
                Verdict::Unknown(reason @ (StopReason::Timeout | StopReason::Memory | StopReason::Interrupted)) => {
                    return Ok(Verdict::Unknown(reason));
                }
                Verdict::Unknown(_) => return Ok(alarm()),
                Verdict::Unsafe(_) => match next(task.program, &kept, dropped) {
                    Some(more) => drop(kept.insert(more)),
                    None => return Ok(alarm()),
                },
            }
        }
    }
}

/// What updates wait for in projections of a task.
///
/// # Errors
/// The program has few threads, or a question that projections do not answer.
pub(crate) fn updates(task: &Task<'_>) -> Result<Updates, Unsupported> {
    task.is_closed()?;
    let is_about = |kind| match kind {
        PropertyKind::Control | PropertyKind::Invariant | PropertyKind::Final => true,
        PropertyKind::Hang | PropertyKind::Race | PropertyKind::Robust | PropertyKind::Trace => false,
    };
    let asks_else = task.program.properties().iter().any(|it| !is_about(it.kind));
    if task.program.processes().len() < MIN_THREADS || asks_else {
        return Err(Unsupported {
            reason: format!("projections are for the safety of {MIN_THREADS} threads and more"),
            help: "use `--engine auto`".to_owned(),
        });
    }
    if task.model.messaging().is_some() {
        // Nobody else hears what it tells.
        return Ok(Updates::Pass);
    }
    Ok(match task.buffering()? {
        Buffering::None | Buffering::Fifo | Buffering::PerLocation(PsoRmw::All) => Updates::Drain,
        Buffering::PerLocation(PsoRmw::Location) => Updates::Pass,
    })
}

/// Nothing is known.
pub(super) fn alarm() -> Verdict {
    Verdict::Unknown(StopReason::Unproved("threads by themselves do not show it".to_owned()))
}

/// The threads that must be kept together, one set for each thing to be proved; none is within another.
pub(crate) fn goals(program: &Program) -> Vec<BTreeSet<ProcessId>> {
    let of_properties = program
        .properties()
        .iter()
        .flat_map(|property| property.situations.iter().map(|situation| program.needed(property.kind, situation)));
    // Every thread may go wrong by itself.
    let alone = program.processes().indices().map(|process| BTreeSet::from([process]));
    let all: BTreeSet<BTreeSet<ProcessId>> = of_properties.chain(alone).collect();
    all.iter().filter(|it| !all.iter().any(|other| *it != other && it.is_subset(other))).cloned().collect()
}

/// The first thread that writes something which threads read that are kept.
pub(crate) fn next(program: &Program, kept: &BTreeSet<ProcessId>, dropped: &BTreeSet<ProcessId>) -> Option<ProcessId> {
    let reads = |x| program.edges().iter().any(|it| kept.contains(&it.process) && program.may_read(&it.op, x));
    let is_read: Vec<_> = program.locations().indices().filter(|&x| reads(x)).collect();
    let writes = |process: &ProcessId| {
        let mut edges = program.edges().iter().filter(|it| it.process == *process);
        edges.any(|edge| is_read.iter().any(|&x| program.may_write(&edge.op, x)))
    };
    program.processes().indices().filter(|it| !kept.contains(it) && !dropped.contains(it)).find(writes)
}
