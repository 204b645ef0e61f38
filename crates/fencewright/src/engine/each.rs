//! The verdict of each property, where the program is unsafe.
//!
//! An engine stops at the first violation. What it leaves open is asked again without what is known to be violated:
//! properties are dropped, and assertions become assumptions, which the runs that come past them satisfy anyway. So
//! there are as many further questions as violated properties, and one more.
//!
//! A run that leaves a range, or divides by zero, cannot be asked away: what is left then stays open. So does what the
//! engine does not decide within a budget, as nobody wants to wait for it beside a violation.

use std::collections::BTreeMap;

use crate::engine::{Answer, Engine, StopReason, Task, Verdict};
use crate::program::{EdgeId, Program, Property, PropertyId};
use crate::source::Span;
use crate::system::{Fault, Run, Violation, replay};
use crate::watch::{Budget, Monitor};

/// So many states or constraints are looked at for what is left after a violation.
const BUDGET: u64 = 200_000;

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
    let mut asked = Asked { engine, task, known: BTreeMap::new(), open: all_checked(task.program), monitor };
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

    /// What a run violates.
    fn violated(program: &Program, violation: Violation) -> Self {
        match violation {
            Violation::Property(id) => Self::Property(id),
            Violation::Fault(Fault::Assertion(edge)) => Self::Assertion(first_like(program, edge)),
            Violation::Fault(fault) => Self::Operation(first_like(program, fault.edge())),
        }
    }
}

/// The first edge that stands at the same place.
fn first_like(program: &Program, edge: EdgeId) -> EdgeId {
    let span = program.edges()[edge].span;
    program.edges().iter_enumerated().find(|it| it.1.span == span).map_or(edge, |it| it.0)
}

/// The properties and assertions of a program.
fn all_checked(program: &Program) -> Vec<Checked> {
    let mut assertions: BTreeMap<Span, EdgeId> = BTreeMap::new();
    for (id, edge) in program.edges().iter_enumerated().filter(|(_, edge)| edge.op.has_assertion()) {
        assertions.entry(edge.span).or_insert(first_like(program, id));
    }
    let properties = program.properties().indices().map(Checked::Property);
    properties.chain(assertions.into_values().map(Checked::Assertion)).collect()
}

/// What is known and what is open while an engine is asked again and again.
struct Asked<'a> {
    engine: &'a dyn Engine,
    task: &'a Task<'a>,
    known: BTreeMap<Checked, Verdict>,
    open: Vec<Checked>,
    monitor: &'a dyn Monitor,
}

impl Asked<'_> {
    /// Asks for what is violated besides what a run violates; the verdict of all that is open then.
    fn besides(&mut self, mut run: Box<Run>, budget: u64) -> Verdict {
        let monitor = Budget { monitor: self.monitor, max: budget };
        loop {
            let violated = Checked::violated(self.task.program, run.trace.violation);
            let was_open = self.open.len();
            self.open.retain(|it| *it != violated);
            self.known.insert(violated, Verdict::Unsafe(run));
            if self.open.is_empty() {
                return Verdict::Safe;
            }
            // It goes wrong in a way that cannot be asked away.
            if self.open.len() == was_open {
                return Verdict::Unknown(StopReason::Unproved("another violation comes first".to_owned()));
            }
            let program = self.program();
            match self.engine.check(&Task { program: &program, ..*self.task }, &monitor).map(|it| it.verdict) {
                Ok(Verdict::Unsafe(found)) => match self.replayed(&found) {
                    Ok(found) => run = found,
                    Err(reason) => return Verdict::Unknown(reason),
                },
                Ok(verdict @ (Verdict::Safe | Verdict::Unknown(_))) => return verdict,
                Err(unsupported) => return Verdict::Unknown(StopReason::Unproved(unsupported.reason)),
            }
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
        program
            .with_properties(properties)
            .with_assumed(&|edge| !is_open(Checked::Assertion(first_like(program, edge))))
    }

    /// The same run of the program itself: what was assumed holds in it.
    fn replayed(&self, found: &Run) -> Result<Box<Run>, StopReason> {
        let Task { program, placement, model, options } = self.task;
        let run = replay(program, placement, *model, options.dialect, &found.trace);
        run.map(Box::new).map_err(|error| StopReason::Defect(error.to_string()))
    }
}
