//! The verdict of each property, where the program is unsafe.
//!
//! An engine stops at the first violation. What it leaves open is asked again without what is known to be violated:
//! properties are dropped, and assertions become assumptions, which the runs that come past them satisfy anyway. So
//! there are as many further questions as violated properties, and one more.
//!
//! A run that leaves a range, or divides by zero, cannot be asked away: what is left then stays open. So does what a
//! short look does not decide, nor the engine with about the effort that the violation took, as nobody wants to wait
//! for it beside a violation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread::{self, ThreadId};

use crate::engine::look::look;
use crate::engine::{Answer, Engine, StopReason, Task, Verdict};
use crate::program::{EdgeId, OperationId, Program, Property, PropertyId};
use crate::source::Span;
use crate::system::{Fault, Run, Violation, replay};
use crate::util::IndexVec;
use crate::watch::{Budget, Monitor, Part, Progress, Stop, worked};

/// A short look goes through so many states.
const LOOK: u64 = 100_000;
/// The engine may spend so many states or constraints, or twice those of the violation if these are more.
const BUDGET: u64 = 1_000;
/// And so much work, on each of its threads, or for each of those states so much if that is more.
const WORK: (u64, u64) = (300_000, 20);

/// What a program is checked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Checked {
    /// A property.
    Property(PropertyId),
    /// An assertion of the text, with all its copies; one edge stands for them.
    Assertion(EdgeId),
    /// An operation of the text that leaves a range or an array, or divides by zero; it is told of only if it does.
    Operation(EdgeId),
}

/// What is known of one thing that a program is checked for.
#[derive(Clone, Debug)]
pub struct Judged {
    /// What it is.
    pub checked: Checked,
    /// What is known.
    pub verdict: Verdict,
}

/// The verdict of everything that a program is checked for, in the order of the text, given what an engine says of all
/// of it. What is violated besides is asked of the engine, as long as a budget lasts.
pub fn each(engine: &dyn Engine, task: &Task<'_>, answer: &Answer, monitor: &dyn Monitor) -> Vec<Judged> {
    let firsts = firsts(task.program);
    let open = all_checked(task.program, &firsts);
    let mut asked = Asked { engine, task, firsts, known: BTreeMap::new(), open, monitor };
    let rest = match &answer.verdict {
        Verdict::Safe => Verdict::Safe,
        Verdict::Unknown(reason) => Verdict::Unknown(reason.clone()),
        Verdict::Unsafe(run) => asked.besides(run.clone(), BUDGET.max(2 * answer.stats.explored)),
    };
    let mut judged = asked.known;
    judged.extend(asked.open.into_iter().map(|checked| (checked, rest.clone())));
    let mut judged: Vec<Judged> = judged.into_iter().map(|(checked, verdict)| Judged { checked, verdict }).collect();
    judged.sort_by_key(|it| it.checked.span(task.program));
    judged
}

impl Checked {
    /// Where it stands.
    pub fn span(self, program: &Program) -> Span {
        match self {
            Self::Property(id) => program.properties()[id].span,
            Self::Assertion(edge) | Self::Operation(edge) => program.edges()[edge].span,
        }
    }

    /// What a run violates; one of an instance has edges of its own.
    fn violated(firsts: &Firsts, run: &Run) -> Self {
        match run.trace.violation {
            Violation::Property(id) => Self::Property(id),
            Violation::Fault(Fault::Assertion(edge)) => Self::Assertion(firsts[run.origin(edge)]),
            Violation::Fault(fault) => Self::Operation(firsts[run.origin(fault.edge())]),
        }
    }
}

/// For each edge, the first that is a copy of the same operation.
type Firsts = IndexVec<EdgeId, EdgeId>;

fn firsts(program: &Program) -> Firsts {
    let mut of_operation: BTreeMap<OperationId, EdgeId> = BTreeMap::new();
    let edges = program.edges().iter_enumerated();
    edges.map(|(id, edge)| *of_operation.entry(edge.operation).or_insert(id)).collect()
}

/// The properties and assertions of a program.
fn all_checked(program: &Program, firsts: &Firsts) -> BTreeSet<Checked> {
    let edges = program.edges().iter_enumerated().filter(|(_, edge)| edge.op.has_assertion());
    let assertions = edges.map(|(id, _)| Checked::Assertion(firsts[id]));
    program.properties().indices().map(Checked::Property).chain(assertions).collect()
}

/// What is known and what is open while an engine is asked again and again.
struct Asked<'a> {
    engine: &'a dyn Engine,
    task: &'a Task<'a>,
    firsts: Firsts,
    known: BTreeMap<Checked, Verdict>,
    open: BTreeSet<Checked>,
    monitor: &'a dyn Monitor,
}

impl Asked<'_> {
    /// Asks for what is violated besides what a run violates; the verdict of all that is open then.
    fn besides(&mut self, mut run: Box<Run>, budget: u64) -> Verdict {
        let monitor = Effort::new(Budget { monitor: self.monitor, max: budget });
        loop {
            let violated = Checked::violated(&self.firsts, &run);
            let was_open = self.open.remove(&violated);
            self.known.insert(violated, Verdict::Unsafe(run));
            if self.open.is_empty() {
                return Verdict::Safe;
            }
            // It goes wrong in a way that cannot be asked away.
            if !was_open {
                return Verdict::Unknown(StopReason::Unproved("another violation comes first".to_owned()));
            }
            match self.ask(&monitor) {
                Verdict::Unsafe(found) => match self.replayed(&found) {
                    Ok(found) => run = found,
                    Err(reason) => return Verdict::Unknown(reason),
                },
                verdict @ (Verdict::Safe | Verdict::Unknown(_)) => return verdict,
            }
        }
    }

    /// Whether something that is open is violated.
    fn ask(&self, monitor: &dyn Monitor) -> Verdict {
        let program = self.program();
        let task = Task { program: &program, ..*self.task };
        if let Some((verdict, _)) = look(&task, LOOK, self.monitor) {
            return verdict;
        }
        match self.engine.check(&task, monitor) {
            Ok(answer) => answer.verdict,
            Err(unsupported) => Verdict::Unknown(StopReason::Unproved(unsupported.reason)),
        }
    }

    /// The program with nothing to violate but what is open. Ids stay.
    fn program(&self) -> Program {
        let program = self.task.program;
        let is_open = |checked: Checked| self.open.contains(&checked);
        let properties = program.properties().iter_enumerated().map(|(id, property)| {
            if is_open(Checked::Property(id)) {
                property.clone()
            } else {
                Property { situations: Vec::new(), ..property.clone() }
            }
        });
        let properties: Vec<Property> = properties.collect();
        program.with_properties(properties).with_assumed(&|edge| !is_open(Checked::Assertion(self.firsts[edge])))
    }

    /// The same run of the program itself: what was assumed holds in it.
    fn replayed(&self, found: &Run) -> Result<Box<Run>, StopReason> {
        let Task { program, placement, model, options } = self.task;
        let instance = found.instance.as_ref().map(|it| program.instance(&it.copies).or_fewer(it.fewer_might_do));
        let run = match &instance {
            Some(it) => replay(&it.program, &it.placement(placement), *model, options.dialect, &found.trace),
            None => replay(program, placement, *model, options.dialect, &found.trace),
        };
        let run = run.map_err(|error| StopReason::Defect(error.to_string()))?;
        Ok(Box::new(Run { instance: instance.map(Arc::new), ..run }))
    }
}

/// Stops at so many states or constraints, and at so much work of a thread: before there is a state to count, an engine
/// may work for long.
struct Effort<'a> {
    budget: Budget<'a>,
    /// The thread that asks, which has done so much before.
    asking: (ThreadId, u64),
}

impl<'a> Effort<'a> {
    fn new(budget: Budget<'a>) -> Self {
        Self { budget, asking: (thread::current().id(), worked()) }
    }
}

impl Monitor for Effort<'_> {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        let before = if thread::current().id() == self.asking.0 { self.asking.1 } else { 0 };
        let max = WORK.0.max(self.budget.max.saturating_mul(WORK.1));
        let is_spent = worked().saturating_sub(before) > max;
        self.budget.poll(progress).or_else(|| is_spent.then_some(Stop::Spent(self.budget.max)))
    }

    fn begins(&self, part: Part<'_>) {
        self.budget.begins(part);
    }
}
