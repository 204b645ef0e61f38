//! Any number of threads with an index: `const N = any;`.
//!
//! Representatives (`program::indexed`) tell one or two threads of a family apart; each of the others stands for any
//! number of threads. What is said of one index is proved of the first representative, what is said of two of the
//! second, by projections that keep the threads that are told apart ([`projection`](super::projection)): the others may
//! do anything. What is said of indices that are not told apart is what is said of those that are, with other numbers.
//!
//! If that alarms, instances with two, three and four threads are searched for a run. `docs/theory/any-number.md` has
//! the argument.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::crowd;
use crate::engine::projection::{NAME, Projection, alarm};
use crate::engine::{Answer, Engine, Stats, StopReason, Task, Unsupported, Verdict};
use crate::memory::Model;
use crate::program::{Indexed, LocationId, Placement, ProcessId, Program, PropertyKind, Situation, StateVar};
use crate::system::replay;
use crate::watch::{Budget, Monitor, Part};

/// So many states or constraints are looked at in each projection, and in each instance.
pub(super) const MAX_PROJECTION: u64 = 200_000;
const MAX_INSTANCE: u64 = 500_000;

/// So many steps of views are looked at.
const MAX_CROWD: u64 = 20_000_000;

/// Situations are about no more indices.
const MAX_INDICES: usize = 2;

/// Whether it is a question that representatives answer.
///
/// # Errors
/// Why not.
pub(super) fn takes(task: &Task<'_>) -> Result<(), Unsupported> {
    let Some(indexed) = task.program.indexed() else { return Ok(()) };
    let refused = |reason: &str| Unsupported {
        reason: format!("{reason}, which is not asked of any number of threads with an index"),
        help: "give the number of threads: `-D N=3`".to_owned(),
    };
    if task.model.buffering(task.options.dialect).is_none() {
        return Err(refused("it is a model without store buffers"));
    }
    let Some(largest) = indexed.representatives.last() else { return Err(refused("it is another question")) };
    for property in largest.properties() {
        match property.kind {
            PropertyKind::Control | PropertyKind::Invariant => {}
            PropertyKind::Final
            | PropertyKind::Hang
            | PropertyKind::Race
            | PropertyKind::Robust
            | PropertyKind::Trace => return Err(refused("it is about how runs end, or what they are like")),
        }
        if property.situations.iter().any(|it| largest.indices_of(it, indexed).len() > MAX_INDICES) {
            return Err(refused("a property names more than two threads at once"));
        }
    }
    Ok(())
}

/// Who is asked.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    /// About instances.
    pub instances: &'a dyn Engine,
    /// About representatives.
    pub projections: Projection<'a>,
}

/// Decides by representatives, and by instances.
///
/// # Errors
/// It is not taken.
pub(super) fn check(asked: Asked<'_>, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
    takes(task)?;
    let indexed = task.program.indexed().expect("it was looked at before");
    monitor.begins(Part::Engine(NAME));
    let mut stats = Stats::default();
    let mut asking = Asking { task, indexed, stats: &mut stats, monitor };
    if let Some(verdict) = asking.instance(asked.instances, task.program)? {
        return Ok(Answer { engine: NAME, verdict, stats });
    }
    let mut verdict = asking.represented(asked.projections)?;
    let mut engine = NAME;
    if matches!(verdict, Verdict::Unknown(StopReason::Unproved(_))) {
        verdict = asking.crowd();
        engine = crowd::NAME;
    }
    for instance in &indexed.instances {
        if !matches!(verdict, Verdict::Unknown(StopReason::Unproved(_))) {
            break;
        }
        verdict = asking.instance(asked.instances, instance)?.unwrap_or(verdict);
    }
    Ok(Answer { engine, verdict, stats })
}

struct Asking<'a> {
    task: &'a Task<'a>,
    indexed: &'a Indexed,
    stats: &'a mut Stats,
    monitor: &'a dyn Monitor,
}

impl Asking<'_> {
    /// Fences over another program of the same text.
    fn placement(&self, over: &Program) -> Result<Placement, Unsupported> {
        let laid = self.task.program.placement_over(self.task.placement, over);
        laid.ok_or_else(|| Unsupported {
            reason: "different fences lie over the threads, of which there is any number".to_owned(),
            help: "lay them by source: `--by source`".to_owned(),
        })
    }

    fn note(&mut self, stats: &Stats) {
        *self.stats = Stats { explored: self.stats.explored + stats.explored, ..*stats };
    }

    /// Whether an instance is unsafe, or a limit was met.
    fn instance(&mut self, engine: &dyn Engine, program: &Program) -> Result<Option<Verdict>, Unsupported> {
        let Some(instance) = program.instance_of(self.task.program, &self.indexed.families) else { return Ok(None) };
        let placement = self.placement(&instance.program)?;
        let task = Task { program: &instance.program, placement: &placement, ..*self.task };
        let answer = engine.check(&task, &Budget { monitor: self.monitor, max: MAX_INSTANCE })?;
        self.note(&answer.stats);
        Ok(match answer.verdict {
            Verdict::Unsafe(run) => {
                let (model, dialect): (Model, _) = (task.model, task.options.dialect);
                let run = replay(&instance.program, &placement, model, dialect, &run.trace);
                let mut run = run.expect("a run that was replayed is one");
                run.instance = Some(Arc::new(instance));
                Some(Verdict::Unsafe(Box::new(run)))
            }
            Verdict::Unknown(reason @ (StopReason::Timeout | StopReason::Memory | StopReason::Interrupted)) => {
                Some(Verdict::Unknown(reason))
            }
            Verdict::Safe | Verdict::Unknown(_) => None,
        })
    }

    /// Whether projections of representatives show that nothing goes wrong, whatever the number of threads.
    fn represented(&mut self, projection: Projection<'_>) -> Result<Verdict, Unsupported> {
        for (n_told_apart, program) in (1..).zip(&self.indexed.representatives) {
            let placement = self.placement(program)?;
            let task = Task { program, placement: &placement, ..*self.task };
            let dropped = stand_for_others(program, self.indexed);
            let foreign = program.shared_by(self.indexed);
            let goals = goals((program, program), (self.indexed, n_told_apart), &foreign);
            let Some(goals) = goals else { return Ok(alarm()) };
            for goal in goals {
                let answer = projection.shown_without(&task, goal, (&dropped, &foreign), self.monitor)?;
                self.note(&answer.stats);
                if !matches!(answer.verdict, Verdict::Safe) {
                    return Ok(answer.verdict);
                }
            }
        }
        Ok(Verdict::Safe)
    }
}

impl Asking<'_> {
    /// Whether any two threads with a witness show it.
    fn crowd(&mut self) -> Verdict {
        let budget = Budget { monitor: self.monitor, max: MAX_CROWD };
        match crowd::crowd(self.task, self.indexed, &budget) {
            Ok(found) => {
                self.note(&found.stats);
                Verdict::Safe
            }
            Err(StopReason::Constraints(_)) => alarm(),
            Err(reason) => Verdict::Unknown(reason),
        }
    }
}

/// The threads of a representative that stand for any number of others.
pub(crate) fn stand_for_others(program: &Program, indexed: &Indexed) -> BTreeSet<ProcessId> {
    let is_even = |&it: &ProcessId| program.index_of(it, &indexed.families).is_some_and(|index| index % 2 == 0);
    program.processes().indices().filter(is_even).collect()
}

/// The threads that must be kept together in a representative that tells so many threads apart: those of situations
/// about as many indices, or about fewer in the first, and each thread by itself in the first. Nothing if one looks at
/// what any thread may write. The representative may have an observer, which changes who is needed.
pub(crate) fn goals(
    (asked, program): (&Program, &Program),
    (indexed, n_told_apart): (&Indexed, usize),
    foreign: &BTreeSet<LocationId>,
) -> Option<BTreeSet<BTreeSet<ProcessId>>> {
    let mut goals = BTreeSet::new();
    for (said, property) in asked.properties().iter().zip(program.properties()) {
        for (said, situation) in said.situations.iter().zip(&property.situations) {
            let indices = asked.indices_of(said, indexed);
            let is_here = if n_told_apart == 1 { indices.len() <= 1 } else { indices.len() == n_told_apart };
            if is_here && indices.iter().all(|index| index % 2 == 1) {
                if looks_at(said, foreign) {
                    return None;
                }
                goals.insert(program.needed(property.kind, situation));
            }
        }
    }
    if n_told_apart == 1 {
        let told = |&it: &ProcessId| program.index_of(it, &indexed.families).is_none_or(|index| index % 2 == 1);
        goals.extend(program.processes().indices().filter(told).map(|it| BTreeSet::from([it])));
    }
    Some(goals)
}

fn looks_at(situation: &Situation, locations: &BTreeSet<LocationId>) -> bool {
    let mut looks = false;
    situation.condition.for_each_var(&mut |variable| match variable {
        StateVar::Memory(x) => looks |= locations.contains(x),
        StateVar::Register(..) => {}
    });
    looks
}
