//! A proof by looking at everything, with store buffers of which less is kept.
//!
//! The certificate says how many of the oldest stores of a buffer are kept in order (`k`), and how many states there
//! are then. Of the rest only the values are kept, and for each location the newest ([`waiting`]); so buffers that can
//! grow without end have finitely many contents, and where none ever holds more than `k`, nothing is lost. The checker
//! visits all states; to list them would save it nothing, since to see that a list is closed takes every step that
//! finds it.
//!
//! Why that is enough: memory behind such buffers ([`machine`]) can do whatever the machine of the model can. A buffer
//! here stands for each that may have led to it, a load finds the same in both, and one is empty if and only if the
//! other is. Everything else is as it was: the steps of the program are those of [`System`]. Two things are left out:
//!
//! - registers that no longer matter hold 0 ([`live`](super::live));
//! - while a process has only local steps ahead that nobody can see, the others wait for it
//!   ([`urgent`](super::urgent)). With one such step the state between is not kept.
//!
//! Kuperstein, Vechev, Yahav, _Partial-Coherence Abstractions for Relaxed Memory Models_, PLDI 2011, for the buffers.

mod machine;
mod waiting;

use std::collections::{HashSet, VecDeque};

use crate::memory::Buffering;
use crate::program::{Placement, ProcessId, Program};
use crate::system::{Action, Flow, Outcome, State, System, starts};
use crate::util::Idx;

use super::Subject;
use super::exploration::{Size, bytes_of};
use super::live::Live;
use super::urgent::Urgent;
use super::verify::{Failure, Steps};
use crate::watch::Monitor;

use machine::{Blurred, BlurredMemory};

/// Store buffers of which less is kept, and how many states there are then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// So many of the oldest stores are kept in order: of a buffer under TSO, to each location under PSO; and so many
    /// markers of store-store fences and one more.
    pub k: u32,
    /// The number of states.
    pub n_states: u64,
}

/// The number of states behind buffers of which this many stores are kept in order. None is bad.
///
/// # Errors
/// One is bad, or there are too many.
pub fn explore_blurred(
    program: &Program,
    placement: &Placement,
    buffering: Buffering,
    k: u32,
    monitor: &dyn Monitor,
) -> Result<u64, Failure> {
    Visit::new(Flow { program, placement }, buffering, k, Size::UNKNOWN).run(&mut Steps::new(monitor))
}

/// Checks that there are so many states, and that none is bad.
pub(super) fn check(
    program: &Program,
    placement: &Placement,
    subject: &Subject,
    Buffers { k, n_states }: Buffers,
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    let size = Size::claimed(n_states);
    let found = Visit::new(Flow { program, placement }, subject.buffering()?, k, size).run(steps)?;
    size.is(found)
}

/// The states that have been visited.
struct Visit<'a> {
    system: System<'a, Blurred>,
    urgent: Urgent,
    live: Live,
    size: Size,
    seen: HashSet<State<BlurredMemory>>,
    /// The first first, so that buffers are short for long where many stores are kept.
    todo: VecDeque<State<BlurredMemory>>,
    bytes: u64,
}

impl<'a> Visit<'a> {
    fn new(flow: Flow<'a>, buffering: Buffering, k: u32, size: Size) -> Self {
        let system = System { flow, machine: Blurred { buffering, k: k as usize } };
        let (urgent, live) = (Urgent::new(flow), Live::new(flow.program));
        Self { system, urgent, live, size, seen: HashSet::new(), todo: VecDeque::new(), bytes: 0 }
    }

    fn run(&mut self, steps: &mut Steps<'_>) -> Result<u64, Failure> {
        let program = self.system.flow.program;
        let Some(starts) = starts(program) else { return Failure::refused("a variable starts with any integer") };
        for start in starts {
            let mut state = self.system.initial(&start);
            program.processes().indices().for_each(|process| self.forget_dead(&mut state, process));
            self.add(state, steps)?;
        }
        while let Some(state) = self.todo.pop_front() {
            steps.step(self.bytes)?;
            let all = match self.urgent_steps(&state) {
                Some(only) => only,
                None => program.processes().indices().flat_map(|it| self.steps_of(&state, it)).collect(),
            };
            for outcome in all {
                self.land(outcome, steps)?;
            }
        }
        Ok(self.seen.len() as u64)
    }

    fn land(&mut self, outcome: Outcome<State<BlurredMemory>>, steps: &mut Steps<'_>) -> Result<(), Failure> {
        match outcome {
            Outcome::Next(next) => self.add(next, steps),
            Outcome::Fault(_) => Failure::refused("a step goes wrong"),
            Outcome::Overflow => Failure::refused("a value needs more than 64 bits"),
        }
    }

    /// Comes to a state, and goes on at once while there is one local step for which the others wait.
    fn add(&mut self, mut state: State<BlurredMemory>, steps: &mut Steps<'_>) -> Result<(), Failure> {
        loop {
            if self.system.violated(&state).is_some() {
                return Failure::refused("a state violates a property");
            }
            match self.urgent_steps(&state).map(<[_; 1]>::try_from) {
                Some(Ok([Outcome::Next(next)])) => state = next,
                Some(Ok([end])) => return self.land(end, steps),
                Some(Err(_)) | None => break,
            }
            steps.step(self.bytes)?;
        }
        if self.seen.insert(state.clone()) {
            self.bytes += bytes_of(&self.system, &state);
            self.todo.push_back(state);
        }
        self.size.admits(self.seen.len())
    }

    /// The steps of a process for which the others wait, if there is one.
    fn urgent_steps(&self, state: &State<BlurredMemory>) -> Option<Vec<Outcome<State<BlurredMemory>>>> {
        let urgent = state.controls.iter_enumerated().filter(|it| self.urgent.is_at(it.0, *it.1));
        let mut steps = urgent.map(|(process, _)| self.edges_of(state, process));
        // One that cannot go on lets the others go.
        steps.find(|it| !it.is_empty())
    }

    /// What a process does, not its buffers.
    fn edges_of(&self, state: &State<BlurredMemory>, process: ProcessId) -> Vec<Outcome<State<BlurredMemory>>> {
        let all = self.system.steps_of(state, process);
        let own = all.filter(|(step, _)| !matches!(step.action, Action::Internal(_)));
        own.map(|(_, outcome)| self.without_dead(outcome, process)).collect()
    }

    fn steps_of(&self, state: &State<BlurredMemory>, process: ProcessId) -> Vec<Outcome<State<BlurredMemory>>> {
        let all = self.system.steps_of(state, process);
        all.map(|(_, outcome)| self.without_dead(outcome, process)).collect()
    }

    fn without_dead(
        &self,
        mut outcome: Outcome<State<BlurredMemory>>,
        process: ProcessId,
    ) -> Outcome<State<BlurredMemory>> {
        if let Outcome::Next(next) = &mut outcome {
            self.forget_dead(next, process);
        }
        outcome
    }

    fn forget_dead(&self, state: &mut State<BlurredMemory>, process: ProcessId) {
        for register in self.live.dead(process, state.controls[process]) {
            state.registers[process][register.index()] = 0;
        }
    }
}
