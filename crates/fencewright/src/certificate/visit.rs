//! All states of a machine, less what no property can tell apart.
//!
//! - Registers that no longer matter hold 0 ([`live`](super::live)).
//! - While a process has only local steps ahead that nobody can see, the others wait for it
//!   ([`urgent`](super::urgent)). With one such step the state between is not kept.

use std::collections::{HashSet, VecDeque};

use crate::memory::Machine;
use crate::program::ProcessId;
use crate::system::{Action, Outcome, State, System, starts};
use crate::util::Idx;

use super::exploration::{Size, bytes_of};
use super::live::Live;
use super::urgent::Urgent;
use super::verify::{Failure, Steps};

/// The states that have been visited.
pub(super) struct Visit<'a, M: Machine> {
    system: System<'a, M>,
    urgent: Urgent,
    live: Live,
    size: Size,
    /// Why a state of memory is bad by itself.
    refuses: fn(&M::State) -> Option<&'static str>,
    seen: HashSet<State<M::State>>,
    /// The first first, so that buffers are short for long where many stores are kept.
    todo: VecDeque<State<M::State>>,
    bytes: u64,
}

impl<'a, M: Machine> Visit<'a, M> {
    /// Nothing has been visited yet.
    pub(super) fn new(system: System<'a, M>, size: Size, refuses: fn(&M::State) -> Option<&'static str>) -> Self {
        let (urgent, live) = (Urgent::new(system.flow), Live::new(system.flow.program));
        Self { system, urgent, live, size, refuses, seen: HashSet::new(), todo: VecDeque::new(), bytes: 0 }
    }

    /// How many states there are, of which none is bad.
    pub(super) fn run(&mut self, steps: &mut Steps<'_>) -> Result<u64, Failure> {
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

    fn land(&mut self, outcome: Outcome<State<M::State>>, steps: &mut Steps<'_>) -> Result<(), Failure> {
        match outcome {
            Outcome::Next(next) => self.add(next, steps),
            Outcome::Fault(_) => Failure::refused("a step goes wrong"),
            Outcome::Overflow => Failure::refused("a value needs more than 64 bits"),
        }
    }

    /// Comes to a state, and goes on at once while there is one local step for which the others wait.
    fn add(&mut self, mut state: State<M::State>, steps: &mut Steps<'_>) -> Result<(), Failure> {
        loop {
            if let Some(why) = (self.refuses)(&state.memory) {
                return Failure::refused(why);
            }
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
    fn urgent_steps(&self, state: &State<M::State>) -> Option<Vec<Outcome<State<M::State>>>> {
        let urgent = state.controls.iter_enumerated().filter(|it| self.urgent.is_at(it.0, *it.1));
        let mut steps = urgent.map(|(process, _)| self.edges_of(state, process));
        // One that cannot go on lets the others go.
        steps.find(|it| !it.is_empty())
    }

    /// What a process does, not its buffers.
    fn edges_of(&self, state: &State<M::State>, process: ProcessId) -> Vec<Outcome<State<M::State>>> {
        let all = self.system.steps_of(state, process);
        let own = all.filter(|(step, _)| !matches!(step.action, Action::Internal(_)));
        own.map(|(_, outcome)| self.without_dead(outcome, process)).collect()
    }

    fn steps_of(&self, state: &State<M::State>, process: ProcessId) -> Vec<Outcome<State<M::State>>> {
        let all = self.system.steps_of(state, process);
        all.map(|(_, outcome)| self.without_dead(outcome, process)).collect()
    }

    fn without_dead(&self, mut outcome: Outcome<State<M::State>>, process: ProcessId) -> Outcome<State<M::State>> {
        if let Outcome::Next(next) = &mut outcome {
            self.forget_dead(next, process);
        }
        outcome
    }

    fn forget_dead(&self, state: &mut State<M::State>, process: ProcessId) {
        for register in self.live.dead(process, state.controls[process]) {
            state.registers[process][register.index()] = 0;
        }
    }
}
