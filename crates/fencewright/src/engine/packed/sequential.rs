//! Breadth-first search on one thread: the arena of the [`StateSet`] is the queue, and every state knows its parent, so
//! that a run can be told.

use std::hint::black_box;

use crate::engine::automaton::Automaton;
use crate::engine::packed::component::Component;
use crate::engine::packed::covering::Covering;
use crate::engine::packed::expand::{Badness, Expander, Shared, Sink};
use crate::engine::packed::finals::Finals;
use crate::engine::packed::search::{Budget, End, MAX_STATES, Outcome};
use crate::engine::packed::states::{Batch, StateSet, hash_of};
use crate::engine::run::{Logged, Path};
use crate::program::StateVar;
use crate::system::starts;
use crate::watch::{Monitor, Progress, heed};

/// A search on one thread that remembers where each state came from.
#[derive(Debug)]
pub(crate) struct Sequential<'a, C: Component> {
    shared: &'a Shared<'a, C>,
    expander: Expander<'a, C>,
    found: Found<'a>,
    depth: u64,
    /// The work done when the monitor was last asked.
    polled: usize,
}

/// What a successor takes, for [`heed`].
const WORK_OF_SUCCESSOR: u32 = 2;

/// The states so far.
#[derive(Debug)]
struct Found<'a> {
    states: StateSet,
    /// If only those that no other covers are wanted.
    covering: Option<Covering<'a>>,
    /// Invariant: as long as `states`; the number of the state it was found from, itself for an initial one.
    parents: Vec<u32>,
    /// Successors that are not in `states` yet, and the state each was found from; itself for an initial one.
    batch: Batch,
    origins: Vec<Option<u32>>,
    /// The state that is being expanded; `None` while initial states are added.
    current: Option<u32>,
    /// What is wrong with the last state, if something is.
    bad: Option<Badness>,
    /// If final states are collected: then nothing is bad.
    finals: Option<Finals>,
}

impl<C: Component> Sink<C> for Found<'_> {
    #[inline]
    fn take(&mut self, expander: &mut Expander<'_, C>, successor: &[u32]) -> bool {
        self.origins.push(self.current);
        !self.batch.push(successor, hash_of(successor)) || self.settle(expander)
    }
}

impl Found<'_> {
    /// Puts the batch into the set, up to the first bad state; `false` if there is one.
    fn settle<C: Component>(&mut self, expander: &mut Expander<'_, C>) -> bool {
        heed(self.batch.len() as u32 * WORK_OF_SUCCESSOR);
        black_box(self.states.touch(&self.batch));
        for i in 0..self.batch.len() {
            if let Some(covering) = &mut self.covering
                && covering.admit(&self.states, self.batch.get(i)).is_some()
            {
                continue;
            }
            let Some(number) = self.states.insert(&self.batch, i) else { continue };
            self.parents.push(self.origins[i].unwrap_or(number));
            match &mut self.finals {
                Some(finals) => finals.note(expander, self.batch.get(i)),
                None => self.bad = expander.violation(self.batch.get(i)),
            }
            if self.bad.is_some() {
                break;
            }
        }
        self.batch.clear();
        self.origins.clear();
        self.bad.is_none()
    }
}

impl<'a, C: Component> Sequential<'a, C> {
    /// Nothing is found yet.
    pub(crate) fn new(shared: &'a Shared<'a, C>) -> Self {
        Self {
            shared,
            expander: Expander::new(shared),
            found: Found {
                states: StateSet::new(shared.n_words()),
                covering: Covering::new(shared),
                parents: Vec::new(),
                batch: Batch::new(shared.n_words()),
                origins: Vec::new(),
                current: None,
                bad: None,
                finals: None,
            },
            depth: 0,
            polled: 0,
        }
    }

    /// A search that collects final states, with the values of these variables, and stops at no bad one.
    pub(crate) fn collecting(shared: &'a Shared<'a, C>, shown: &[StateVar]) -> Self {
        let mut search = Self::new(shared);
        search.found.finals = Some(Finals::new(shown));
        search
    }

    /// The final states so far, if they are collected.
    pub(crate) fn into_finals(self) -> Option<Finals> {
        self.found.finals
    }

    /// Searches until a bad state, the end, or a limit.
    pub(crate) fn run(&mut self, budget: Budget, monitor: &dyn Monitor) -> Outcome {
        let end = self.search(budget, monitor);
        Outcome {
            end,
            n_states: self.found.states.len() as u64,
            n_kept: self.found.covering.as_ref().map_or(self.found.states.len(), Covering::n_kept) as u64,
            bytes: self.bytes(),
            has_hit_bound: self.expander.has_hit_bound(),
        }
    }

    fn search(&mut self, budget: Budget, monitor: &dyn Monitor) -> End {
        let program = self.shared.automaton.flow().program;
        for start in starts(program).into_iter().flatten() {
            if let Some(end) = self.poll_if_due(0, budget, monitor) {
                return end;
            }
            self.expander.start(&start, &mut self.found);
            self.found.settle(&mut self.expander);
            if let Some(bad) = self.found.bad {
                return End::Bad(bad);
            }
        }
        let mut from = 0;
        while from < self.found.states.len() {
            if self.depth >= budget.depth {
                return End::OverBudget;
            }
            self.depth += 1;
            let to = self.found.states.len();
            if let Some(end) = self.expand_level(from..to, budget, monitor) {
                return end;
            }
            from = to;
        }
        End::Exhausted
    }

    fn expand_level(&mut self, level: std::ops::Range<usize>, budget: Budget, monitor: &dyn Monitor) -> Option<End> {
        let mut state = vec![0; self.shared.n_words()];
        for number in level {
            if let Some(end) = self.poll_if_due(number, budget, monitor) {
                return Some(end);
            }
            if self.found.covering.as_ref().is_some_and(|covering| covering.is_covered(number)) {
                continue;
            }
            state.copy_from_slice(self.found.states.get(number));
            // A run that has gone wrong goes no further.
            if self.found.finals.is_some() && self.expander.broken(&state).is_some() {
                continue;
            }
            self.found.current = Some(u32::try_from(number).expect("fewer than 2^32 states"));
            self.expander.expand(&state, &mut self.found);
            if let Some(bad) = self.found.bad {
                return Some(End::Bad(bad));
            }
        }
        self.found.settle(&mut self.expander);
        self.found.bad.map(End::Bad)
    }

    /// Asks the monitor once enough was done: states looked at and found, and what they are made of, since one state
    /// may have many successors, and a successor may be a large thing that is new.
    #[inline]
    fn poll_if_due(&mut self, number: usize, budget: Budget, monitor: &dyn Monitor) -> Option<End> {
        let n_interned = self.shared.component.n_interned();
        let work = number + self.found.parents.len() / 8 + n_interned * 8;
        if work < self.polled + C::POLL_EVERY && n_interned <= budget.interned {
            return None;
        }
        self.polled = work;
        self.poll(number, budget, monitor)
    }

    /// Seldom done: what it takes stays out of the loop over states.
    #[cold]
    fn poll(&self, number: usize, budget: Budget, monitor: &dyn Monitor) -> Option<End> {
        let is_full = self.shared.component.n_interned() > budget.interned;
        let bytes = self.bytes();
        if is_full || bytes > budget.bytes || self.found.states.len() as u64 > budget.states.min(MAX_STATES) {
            return Some(End::OverBudget);
        }
        let progress = Progress {
            explored: number as u64,
            queued: (self.found.states.len() - number) as u64,
            depth: self.depth,
            bytes,
        };
        monitor.poll(&progress).map(|stop| End::Stopped(stop.into()))
    }

    fn bytes(&self) -> u64 {
        let parents = (self.found.parents.capacity() * size_of::<u32>()) as u64;
        let covering = self.found.covering.as_ref().map_or(0, Covering::bytes);
        self.found.states.bytes() + covering + parents + self.shared.bytes()
    }

    /// The local states that the search has seen.
    pub(crate) fn automaton(&self) -> &'a Automaton<'a> {
        &self.shared.automaton
    }

    /// The path to the last state that was found.
    pub(crate) fn path(&self) -> Path {
        let mut numbers = vec![self.found.states.len() - 1];
        while let Some(&last) = numbers.last()
            && self.found.parents[last] as usize != last
        {
            numbers.push(self.found.parents[last] as usize);
        }
        numbers.reverse();
        let mut expander = Expander::new(self.shared).with_log();
        let mut path = self.explain_start(&mut expander, self.found.states.get(numbers[0]));
        for pair in numbers.windows(2) {
            let mut wanted = Wanted { state: self.found.states.get(pair[1]), steps: None };
            expander.expand(self.found.states.get(pair[0]), &mut wanted);
            path.steps.extend(wanted.steps.expect("a state has its parent as predecessor"));
        }
        path
    }

    fn explain_start(&self, expander: &mut Expander<'_, C>, state: &[u32]) -> Path {
        let program = self.shared.automaton.flow().program;
        let found = starts(program).into_iter().flatten().find_map(|start| {
            let mut wanted = Wanted { state, steps: None };
            expander.start(&start, &mut wanted);
            wanted.steps.map(|steps| Path { start, rests: expander.rests().to_vec(), steps })
        });
        found.expect("the first state of a path is initial")
    }
}

/// Waits for one state.
struct Wanted<'a> {
    state: &'a [u32],
    steps: Option<Vec<Logged>>,
}

impl<C: Component> Sink<C> for Wanted<'_> {
    fn take(&mut self, expander: &mut Expander<'_, C>, successor: &[u32]) -> bool {
        if successor == self.state {
            self.steps = Some(expander.log().to_vec());
        }
        self.steps.is_none()
    }
}
