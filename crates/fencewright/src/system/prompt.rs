//! A run of the strongest model as one of a weaker: whatever waits reaches memory before anything else happens.

use crate::memory::{Dialect, Job, Machine, Model};
use crate::program::{Placement, Program};
use crate::system::{Action, Outcome, Step, System, Trace};

/// The same run under a model, with all that memory does by itself as soon as it can. What is not possible is left as
/// it is, for replay to refuse.
pub fn promptly(program: &Program, placement: &Placement, model: Model, dialect: Dialect, trace: Trace) -> Trace {
    model.with(dialect, Prompting { program, placement, trace })
}

struct Prompting<'a> {
    program: &'a Program,
    placement: &'a Placement,
    trace: Trace,
}

impl Job for Prompting<'_> {
    type Output = Trace;

    fn run<M: Machine>(self, machine: M) -> Trace {
        let system = System::new(self.program, self.placement, machine);
        let mut state = system.initial(&self.trace.start);
        let mut steps = Vec::new();
        for &step in &self.trace.steps {
            steps.push(step);
            let Some(Outcome::Next(next)) = system.take(&state, step).map(|it| it.outcome) else { return self.trace };
            state = next;
            let process = step.process;
            while let Some((internal, memory)) = system.machine.internal(&state.memory, process).into_iter().next() {
                steps.push(Step { process, action: Action::Internal(internal) });
                state.memory = memory;
            }
        }
        Trace { steps, ..self.trace }
    }
}
