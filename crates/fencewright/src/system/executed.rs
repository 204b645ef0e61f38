//! The execution graph of a run under what a language promises.

use std::collections::BTreeMap;

use crate::memory::{EventId, Execution, Rc11};
use crate::program::{Placement, ProcessId, Program};
use crate::system::{Outcome, Run, System};
use crate::util::Idx;

/// The execution graph of a run.
#[derive(Clone, Debug)]
pub struct Executed {
    /// The graph.
    pub execution: Execution,
    /// What the model says of it.
    pub language: Rc11,
    /// The event of the run that each event of the graph is.
    pub numbers: BTreeMap<EventId, usize>,
}

impl Executed {
    /// The event of the graph that an event of the run is, if it is one.
    pub fn event(&self, number: usize) -> Option<EventId> {
        self.numbers.iter().find(|it| *it.1 == number).map(|it| *it.0)
    }
}

/// The execution graph of a run, if its model is one of a language.
pub fn executed(program: &Program, run: &Run) -> Option<Executed> {
    executed_with(program, &Placement::NONE, run)
}

/// The same with fences laid over the program.
pub fn executed_with(program: &Program, placement: &Placement, run: &Run) -> Option<Executed> {
    let language = run.model.language()?;
    let system = System::new(program, placement, language);
    let mut state = system.initial(&run.trace.start);
    let mut numbers = BTreeMap::new();
    for (number, &step) in run.trace.steps.iter().enumerate() {
        let Outcome::Next(next) = system.take(&state, step)?.outcome else { break };
        let id = |p: usize| EventId {
            process: ProcessId::from_usize(p),
            place: u32::try_from(state.memory.threads[p].len()).expect("fewer than 2^32 events"),
        };
        let is_new = |p: &usize| next.memory.threads[*p].len() > state.memory.threads[*p].len();
        numbers.extend((0..state.memory.threads.len()).filter(is_new).map(|p| (id(p), number)));
        state = next;
    }
    Some(Executed { execution: state.memory, language, numbers })
}
