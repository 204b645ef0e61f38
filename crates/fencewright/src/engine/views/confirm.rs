//! An alarm is believed once there is an execution graph of it that the axioms allow.
//!
//! The path of a search over the [`Watcher`] says what each step reads, and which steps are weak. These are walked on
//! the machine of the model: what is not weak acts on the last write; for a weak read every older write of that value
//! is tried, for a weak write every place below the last.

use crate::engine::Task;
use crate::engine::automaton::Automaton;
use crate::engine::run::{Path, completed};
use crate::engine::views::watcher::Watcher;
use crate::memory::{Act, Execution, Machine, Rc11};
use crate::program::{EdgeId, Value};
use crate::system::{Action, Effect, Outcome, State, Step, System, Trace, Violation};
use crate::util::Idx;
use crate::watch::heed;

/// More tries than this are not made.
const MAX_TRIES: usize = 20_000;

/// What a step of the path is.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    step: Step,
    /// What it read.
    read: Option<Value>,
    is_weak: bool,
}

/// A step list of the model, if an execution graph shows what the path claims.
pub(super) fn confirmed(
    task: &Task<'_>,
    (watcher, automaton): (Watcher<'_>, &Automaton<'_>),
    path: &Path,
    violation: Violation,
) -> Option<Trace> {
    let machine = task.model.language()?;
    let wanted = wanted(task, watcher, automaton, path);
    let system = System::new(task.program, task.placement, machine);
    let mut search = Search { system: &system, wanted: &wanted, violation, steps: Vec::new(), n_tries: 0 };
    let start = system.initial(&path.start);
    search.found(&start).then_some(Trace { start: path.start.clone(), steps: search.steps, violation })
}

/// The last weak step of a path.
pub(super) fn last_weak(task: &Task<'_>, watched: (Watcher<'_>, &Automaton<'_>), path: &Path) -> Option<EdgeId> {
    let weak = wanted(task, watched.0, watched.1, path).into_iter().rfind(|it| it.is_weak)?;
    match weak.step.action {
        Action::Edge { edge, .. } => Some(edge),
        Action::Fence(_) | Action::Internal(_) => None,
    }
}

fn is_first(step: Step) -> bool {
    matches!(step.action, Action::Edge { choice: 0, .. })
}

fn wanted(task: &Task<'_>, watcher: Watcher<'_>, automaton: &Automaton<'_>, path: &Path) -> Vec<Wanted> {
    let system = System::new(task.program, task.placement, watcher);
    let mut state = system.initial(&path.start);
    let mut all = Vec::new();
    for step in completed(&system, automaton, path) {
        let Some(taken) = system.take(&state, step) else { break };
        let (read, is_weak) = match taken.effect {
            Effect::Load(_, value, origin) => (Some(value), Watcher::is_weak(origin)),
            Effect::Store(.., origin) => (None, Watcher::is_weak(origin)),
            Effect::Rmw(x, old, _) => {
                // What acts on memory comes first.
                let acts_on_memory = old == system.machine.value(&state.memory, x) && is_first(step);
                (Some(old), !acts_on_memory)
            }
            Effect::Local | Effect::Fence(_) | Effect::Locked => (None, false),
            Effect::Arrived(..) | Effect::MarkerLeft | Effect::Faulted => (None, false),
        };
        all.push(Wanted { step, read, is_weak });
        let Outcome::Next(next) = taken.outcome else { break };
        state = next;
    }
    all
}

struct Search<'a> {
    system: &'a System<'a, Rc11>,
    wanted: &'a [Wanted],
    violation: Violation,
    /// The steps so far.
    steps: Vec<Step>,
    n_tries: usize,
}

impl Search<'_> {
    fn found(&mut self, state: &State<Execution>) -> bool {
        let Some(&wanted) = self.wanted.get(self.steps.len()) else { return self.is_bad(state) };
        let is_last = self.steps.len() + 1 == self.wanted.len();
        for (step, outcome) in self.system.steps_of(state, wanted.step.process) {
            if self.n_tries > MAX_TRIES || !is_same_edge(step, wanted.step) {
                continue;
            }
            self.n_tries += 1;
            heed(100);
            self.steps.push(step);
            let is_found = match outcome {
                Outcome::Next(next) => fits(state, (step, &next), wanted) && self.found(&next),
                Outcome::Fault(fault) => is_last && self.violation == Violation::Fault(fault),
                Outcome::Overflow => false,
            };
            if is_found {
                return true;
            }
            self.steps.pop();
        }
        false
    }

    fn is_bad(&self, state: &State<Execution>) -> bool {
        match self.violation {
            Violation::Property(id) => self.system.violates(state, &self.system.flow.program.properties()[id]),
            Violation::Fault(_) => false,
        }
    }
}

/// Steps of memory may have another number there.
fn is_same_edge(step: Step, wanted: Step) -> bool {
    match (step.action, wanted.action) {
        (Action::Edge { edge, .. }, Action::Edge { edge: other, .. }) => edge == other,
        (one, other) => one == other,
    }
}

/// Whether a step of the model does what the path says.
fn fits(before: &State<Execution>, (step, after): (Step, &State<Execution>), wanted: Wanted) -> bool {
    let p = step.process;
    let (old, new) = (&before.memory, &after.memory);
    let Some(event) = new.threads[p.index()].get(old.threads[p.index()].len()) else { return step == wanted.step };
    let Some(x) = event.act.location() else { return true };
    let last = old.writes[x.index()].last().copied();
    let is_last = match event.act {
        Act::Read(_, source) | Act::Update(_, source, _) => source == last,
        Act::Write(..) => new.writes[x.index()].last() != last.as_ref(),
        Act::Fence => true,
    };
    let value = event.act.source().map(|source| old.written(x, source));
    is_last != wanted.is_weak && value == wanted.read
}
