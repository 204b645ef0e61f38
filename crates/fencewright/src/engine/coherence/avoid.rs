//! The avoid formula: which fences keep every bad state of the abstraction from being reached.
//!
//! Section 5 of the paper. Stores carry the label of the edge they come from. A step of a process is *prevented* by a
//! fence on every path from a store that waits to the edge of the step ([`Cuts`]); a state is *avoided* if each step
//! that leads to it is prevented or starts in a state that is avoided. The formula of a state is the greatest solution,
//! found forward from the initial states, which nothing avoids; what is asked for is the conjunction over bad states.
//!
//! **Which stores count.** Those that are sure to wait in every store buffer that the abstract one stands for: under
//! `fd` all of them, under `pd` the ordered ones and the newest. (The paper takes all of them under `pd`, and their
//! conjunction, since none of them is sure; with the newest one known to be there, the disjunction over those that are
//! sure is implied by that.) A fence then stops the step from whatever the state stands for.
//!
//! **What is left out.** A state whose formula follows from that of the bad states so far: whatever is reached through
//! it is avoided by the same fences. So the search soon looks only at what those fences do not stop.
//!
//! **Which reductions are sound here.** Local steps: no fence stops them. Not run-ahead: it would take a store before a
//! flush always, and then the store would seem to be prevented by a fence though the flush could have come first.
//!
//! **Unbounded integers** may be cut off ([`values`](super::values)); a fence then stands at the start or the end of
//! every path that an operation has become.
//!
//! Departure: the variables are the fences that may be written, not pairs of labels; see [`Cuts`].

use std::collections::VecDeque;

use crate::engine::automaton::FastMap;
use crate::engine::coherence::cuts::{Cuts, Places};
use crate::engine::coherence::segments::Coherent;
use crate::engine::coherence::{Coherence, CutOff, Memory, Reducing, cut_off, is_cut_off, reach, shared};
use crate::engine::packed::{Badness, BufferId, Component, Covering, Expander, Label, Shared, Sink, StateSet, hash_of};
use crate::engine::{StopReason, Task, Unsupported};
use crate::program::EdgeId;
use crate::system::{Action, starts};
use crate::util::{Bdd, Formula};
use crate::watch::{Monitor, Progress};

/// What avoids all bad states.
#[derive(Clone, Debug)]
pub struct Avoided {
    /// Minimal sets of places at which full fences avoid all bad states of the abstraction; none if no set does.
    pub sets: Vec<Vec<u32>>,
    /// How many stores were kept in order.
    pub k: u32,
    /// States looked at, over all rounds.
    pub explored: u64,
    /// Bytes of the largest round.
    pub bytes: u64,
    /// Why there is no answer.
    pub stopped: Option<StopReason>,
}

/// No more sets than this are listed.
const MAX_SETS: usize = 1_000;

/// Fences at some of these places that avoid all bad states; `k` is raised until there are some.
///
/// # Errors
/// The engine does not take the task.
pub fn avoid(
    engine: &Coherence,
    task: &Task<'_>,
    places: &Places,
    monitor: &dyn Monitor,
) -> Result<Avoided, Unsupported> {
    task.is_closed()?;
    if !is_cut_off(task) {
        return avoid_exactly(engine, task, places, monitor);
    }
    let CutOff { program, placement, positions } = cut_off(task, reach(task.program))?;
    let mut moved = Places::new();
    for (position, variables) in places {
        for &position in positions.get(position).into_iter().flatten() {
            moved.entry(position).or_default().extend(variables);
        }
    }
    avoid_exactly(engine, &Task { program: &program, placement: &placement, ..*task }, &moved, monitor)
}

/// The same with every integer as it is.
fn avoid_exactly(
    engine: &Coherence,
    task: &Task<'_>,
    places: &Places,
    monitor: &dyn Monitor,
) -> Result<Avoided, Unsupported> {
    let mut avoided = Avoided { sets: Vec::new(), k: 0, explored: 0, bytes: 0, stopped: None };
    let buffering = task.buffering()?;
    for k in engine.ks_for(task)? {
        let shared = shared(task, buffering, k, Reducing::Labels);
        let mut search = Search::new(&shared, task, places, engine.max_states);
        let end = search.run(monitor);
        avoided.k = k;
        avoided.explored += search.n_expanded;
        avoided.bytes = avoided.bytes.max(search.found.bytes());
        avoided.stopped = end.err();
        avoided.sets = match avoided.stopped {
            Some(_) => Vec::new(),
            None => search.found.bdd.minimal_models(search.found.goal, MAX_SETS),
        };
        if avoided.stopped.is_some() || !avoided.sets.is_empty() {
            break;
        }
    }
    Ok(avoided)
}

/// The search of one round.
struct Search<'a> {
    shared: &'a Shared<'a, Memory>,
    expander: Expander<'a, Memory>,
    found: Found<'a>,
    max_states: u64,
    n_expanded: u64,
}

/// The states so far, and what avoids them.
struct Found<'a> {
    shared: &'a Shared<'a, Memory>,
    states: StateSet,
    covering: Option<Covering<'a>>,
    /// Invariant: as long as `states`.
    marks: Vec<Mark>,
    bdd: Bdd,
    cuts: Cuts<'a>,
    /// What prevents an operation while this buffer waits.
    prevents: FastMap<(BufferId, EdgeId), Formula>,
    /// What avoids all bad states so far.
    goal: Formula,
    todo: VecDeque<u32>,
    /// The state that is being expanded, and what avoids it; `None` while initial states are added.
    current: Option<(u32, Formula)>,
    has_overflown: bool,
}

/// What is known of a state.
#[derive(Clone, Copy, Debug)]
struct Mark {
    avoid: Formula,
    is_bad: bool,
    is_queued: bool,
}

impl<'a> Search<'a> {
    fn new(shared: &'a Shared<'a, Memory>, task: &'a Task<'a>, places: &'a Places, max_states: u64) -> Self {
        let found = Found {
            shared,
            states: StateSet::new(shared.n_words()),
            covering: Covering::new(shared),
            marks: Vec::new(),
            bdd: Bdd::default(),
            cuts: Cuts::new(task, shared.component.buffering(), places),
            prevents: FastMap::default(),
            goal: Formula::TRUE,
            todo: VecDeque::new(),
            current: None,
            has_overflown: false,
        };
        Self { shared, expander: Expander::new(shared).with_log(), found, max_states, n_expanded: 0 }
    }

    /// Searches until nothing changes, no fence can help, or a limit.
    fn run(&mut self, monitor: &dyn Monitor) -> Result<(), StopReason> {
        let program = self.shared.automaton.flow().program;
        for start in starts(program).into_iter().flatten() {
            self.expander.start(&start, &mut self.found);
        }
        let mut state = vec![0; self.shared.n_words()];
        while let Some(number) = self.found.todo.pop_front() {
            if self.n_expanded.is_multiple_of(Memory::POLL_EVERY as u64) {
                self.poll(monitor)?;
            }
            let mark = &mut self.found.marks[number as usize];
            mark.is_queued = false;
            let avoid = mark.avoid;
            if self.found.bdd.implies(self.found.goal, avoid) {
                continue;
            }
            self.n_expanded += 1;
            state.copy_from_slice(self.found.states.get(number as usize));
            self.found.current = Some((number, avoid));
            self.expander.expand(&state, &mut self.found);
            if self.found.has_overflown {
                return Err(StopReason::Overflow);
            }
        }
        Ok(())
    }

    fn poll(&self, monitor: &dyn Monitor) -> Result<(), StopReason> {
        let n_states = self.found.states.len() as u64;
        if n_states > self.max_states {
            return Err(StopReason::States(n_states));
        }
        let progress = Progress {
            explored: self.n_expanded,
            queued: self.found.todo.len() as u64,
            depth: 0,
            bytes: self.found.bytes(),
        };
        monitor.poll(&progress).map_or(Ok(()), |stop| Err(stop.into()))
    }
}

impl Sink<Memory> for Found<'_> {
    fn take(&mut self, expander: &mut Expander<'_, Memory>, successor: &[u32]) -> bool {
        let avoid = match self.current {
            None => Formula::FALSE,
            Some((number, avoid)) => {
                let prevent = self.prevent(expander, number);
                self.bdd.or(avoid, prevent)
            }
        };
        if !self.bdd.implies(self.goal, avoid) {
            self.reach(expander, successor, avoid);
        }
        // Once no fence can help, there is nothing to look for.
        self.goal != Formula::FALSE && !self.has_overflown
    }
}

impl Found<'_> {
    /// What prevents the step that is being handed on.
    fn prevent(&mut self, expander: &Expander<'_, Memory>, from: u32) -> Formula {
        let Some(step) = expander.log().first().map(|logged| logged.step) else { return Formula::FALSE };
        let Action::Edge { edge, .. } = step.action else { return Formula::FALSE };
        let memory = &self.states.get(from as usize)[self.shared.n_processes()..];
        let Some(buffer) = self.shared.component.buffer(memory, step.process) else { return Formula::FALSE };
        if let Some(&known) = self.prevents.get(&(buffer, edge)) {
            return known;
        }
        let mut any = Formula::FALSE;
        for store in self.sure_stores(buffer) {
            let cut = self.cuts.between(&mut self.bdd, store, edge);
            any = self.bdd.or(any, cut);
        }
        self.prevents.insert((buffer, edge), any);
        any
    }

    /// The edges of which a store is sure to wait.
    fn sure_stores(&self, buffer: BufferId) -> Vec<EdgeId> {
        let component = &self.shared.component;
        let Coherent { precision, .. } = component.rules();
        let waiting = component.waiting(buffer);
        let mut edges: Vec<EdgeId> = waiting.sure_labels(precision.abstraction).filter_map(Label::edge).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// A state is reached by a step that these fences avoid.
    fn reach(&mut self, expander: &mut Expander<'_, Memory>, state: &[u32], avoid: Formula) {
        let covered_by = self.covering.as_mut().and_then(|covering| covering.admit(&self.states, state));
        let number = match covered_by.map_or_else(|| self.states.add(state, hash_of(state)), Err) {
            Ok(number) => {
                let badness = expander.violation(state);
                self.has_overflown |= badness == Some(Badness::Overflow);
                self.marks.push(Mark { avoid: Formula::TRUE, is_bad: badness.is_some(), is_queued: false });
                number
            }
            Err(known) => known,
        };
        let mark = &mut self.marks[number as usize];
        let all = self.bdd.and(mark.avoid, avoid);
        if all == mark.avoid {
            return;
        }
        mark.avoid = all;
        if mark.is_bad {
            self.goal = self.bdd.and(self.goal, all);
        } else if !mark.is_queued {
            mark.is_queued = true;
            self.todo.push_back(number);
        }
    }

    fn bytes(&self) -> u64 {
        let marks = self.marks.capacity() * size_of::<Mark>() + self.todo.capacity() * size_of::<u32>();
        let covering = self.covering.as_ref().map_or(0, Covering::bytes);
        self.states.bytes() + covering + marks as u64 + self.bdd.bytes() + self.shared.bytes()
    }
}
