//! Potentials as a well-structured system: a rule for each operation, and the order on constraints.
//!
//! A constraint says where threads are and which lists each must be able to read from messages that are there. Before a
//! read, its thread had one letter more to read; before a write, lists that read the new message were shorter
//! ([`write`](super::write)); an update is a read of the last message and a write.

use super::alone::Alone;
use super::constraint::{ABSENT, Constraint, Draft, n_threads, sets, states};
use super::kinds::{Act, Flavor, KindId, Kinds, Writer, claim_of, for_update, is_last, kind_of, last, plain};
use super::lists::Lists;
use super::turning::{Turn, Turning};
use super::write::Written;
use crate::engine::automaton::{Datum, ProcessAutomaton, RegisterFree, StateId};
use crate::engine::backward::bad::Bad;
use crate::engine::backward::key::Key;
use crate::engine::backward::processes::Processes;
use crate::engine::backward::symmetry::renamings;
use crate::engine::backward::{Indexed, WellStructured};
use crate::program::ProcessId;
use crate::util::{Idx, IndexVec};
use crate::watch::heed;

/// Which reductions are on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reducing {
    pub alone: bool,
    pub one_last: bool,
    pub names: bool,
    pub late_reads: bool,
    pub absent: bool,
    pub symmetry: bool,
    pub flavor: Flavor,
}

/// A step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub process: ProcessId,
    pub edge: u32,
    /// What it reads, if it reads.
    pub source: Option<KindId>,
    /// How the predecessor was renamed afterwards.
    pub turn: Turn,
}

/// The potentials of a program.
#[derive(Debug)]
pub(super) struct Potentials<'a> {
    pub program: &'a RegisterFree,
    pub kinds: Kinds,
    pub lists: Lists,
    pub turning: Turning,
    alone: Option<Alone>,
    reducing: Reducing,
    bad: Vec<Bad>,
    distances: IndexVec<ProcessId, Vec<u32>>,
    /// Whether the last step of a thread that is in a state can come last of all.
    is_late: IndexVec<ProcessId, Vec<bool>>,
}

impl<'a> Potentials<'a> {
    /// The potentials of a program, in which these situations are bad, and accesses of some locations all act on the
    /// last message.
    pub(super) fn new(program: &'a RegisterFree, ordered: &[bool], bad: Vec<Bad>, reducing: Reducing) -> Self {
        let is_strong = reducing.flavor == Flavor::Strong;
        let kinds = Kinds::new(program, ordered, reducing.flavor, reducing.names && is_strong);
        let renamings = if reducing.symmetry && is_strong { renamings(program, &bad) } else { Vec::new() };
        Self {
            program,
            lists: Lists::new(reducing.flavor, kinds.len()),
            turning: Turning::new(&renamings, &kinds, program),
            alone: reducing.alone.then(|| Alone::new(program, &kinds, reducing.flavor)),
            reducing,
            bad,
            distances: program.processes.iter().map(ProcessAutomaton::distances).collect(),
            is_late: program.processes.indices().map(|process| late(program, &kinds, process, reducing)).collect(),
            kinds,
        }
    }

    /// Which memory the lists are about.
    pub(super) fn flavor(&self) -> Flavor {
        self.reducing.flavor
    }

    /// The constraints of a bad situation: one for each choice of who wrote what memory holds.
    fn start(&self, bad: &Bad, out: &mut Vec<Constraint>) {
        let n = self.program.processes.len();
        let mut states = vec![ABSENT; n];
        bad.states.iter().for_each(|&(process, state)| states[process.index()] = state);
        // A last message can be read by everybody, so it does not matter who is to read it.
        let reader = bad.states.first().map_or(n, |it| it.0.index());
        let mut lists: Vec<Vec<u64>> = vec![Vec::new()];
        // Where messages have no order, memory may hold anything.
        let memory = if self.reducing.flavor == Flavor::Strong { &bad.memory[..] } else { &[] };
        for &(x, value) in memory {
            let sources = self.kinds.sources(x.index() as u32, value);
            let with = |list: &Vec<u64>| -> Vec<Vec<u64>> {
                sources.iter().map(|&kind| [&list[..], &[last(kind)]].concat()).collect()
            };
            // There is one for each choice of writers.
            heed(u32::try_from(lists.len().saturating_mul(sources.len())).unwrap_or(u32::MAX));
            lists = lists.iter().flat_map(with).collect();
        }
        for list in lists {
            let mut sets = vec![Vec::new(); n + 1];
            sets[reader].push(self.lists.number(list));
            out.extend(self.admitted(Draft { states: states.clone(), sets }).map(|it| it.1));
        }
    }

    /// A draft as a constraint, unless the facts say that it is never met.
    fn admitted(&self, draft: Draft) -> Option<(Turn, Constraint)> {
        let is_right = match self.reducing.flavor {
            Flavor::Strong => !self.reducing.one_last || self.has_one_last(&draft),
            Flavor::Weak => self.has_one_first(&draft),
        };
        let is_met = is_right && self.alone.as_ref().is_none_or(|alone| alone.admits(&draft, &self.lists));
        is_met.then(|| self.turning.turn(draft.finished(&self.lists), &self.lists))
    }

    /// Whether there is at most one last message of each location, behind which nothing else is read of it; and one
    /// that was there at the start.
    fn has_one_last(&self, draft: &Draft) -> bool {
        let n_places = self.program.values.len() + 1;
        let (mut lasts, mut firsts) = (vec![None; n_places], vec![None; n_places]);
        for &list in draft.sets.iter().flatten() {
            let mut behind = vec![None; n_places];
            for &letter in self.lists.list(list) {
                let kind = self.kinds.get(kind_of(letter));
                let place = kind.place as usize;
                if kind.writer == Writer::Nobody && *firsts[place].get_or_insert(kind) != kind {
                    return false;
                }
                if behind[place].is_some_and(|it| it != kind) {
                    return false;
                }
                if is_last(letter) {
                    behind[place] = Some(kind);
                    if *lasts[place].get_or_insert(kind) != kind {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Whether there is one first message of each location, with one thread that may update it, and not asked for where
    /// it must not be in the past.
    fn has_one_first(&self, draft: &Draft) -> bool {
        let n_places = self.program.values.len() + 1;
        let (mut firsts, mut updaters) = (vec![None; n_places], vec![None; n_places]);
        for &list in draft.sets.iter().flatten() {
            let mut is_marked = vec![false; n_places];
            for &letter in self.lists.list(list) {
                if let Some(place) = self.kinds.marked(letter) {
                    is_marked[place as usize] = true;
                    continue;
                }
                let kind = self.kinds.get(kind_of(letter));
                let (place, claim) = (kind.place as usize, claim_of(letter));
                if kind.writer != Writer::Nobody {
                    continue;
                }
                let is_other = *firsts[place].get_or_insert(kind) != kind;
                let is_updated = claim != 0 && *updaters[place].get_or_insert(claim) != claim;
                if is_marked[place] || is_other || is_updated {
                    return false;
                }
            }
        }
        true
    }

    /// Appends the predecessors by an edge of a thread; of one that was absent only those in which it writes something
    /// that is read.
    fn before(&self, after: &Draft, step: (ProcessId, u32), out: &mut Vec<(Rule, Constraint)>) {
        let (process, edge) = step;
        let thread = process.index();
        let is_new = after.states[thread] == ABSENT;
        let from = self.program.processes[process].edges[edge as usize].from;
        let mut add = |mut draft: Draft, source: Option<u64>| {
            if let Some(letter) = source {
                draft.put_before(thread, letter, &self.lists);
            }
            draft.states[thread] = from;
            if let Some((turn, constraint)) = self.admitted(draft) {
                out.push((Rule { process, edge, source: source.map(kind_of), turn }, constraint));
            }
        };
        let written = |x: u32, value: Datum| {
            let kind = self.kinds.of_thread(process, x, value);
            let mut drafts = Vec::new();
            let (kinds, lists, flavor) = (&self.kinds, &self.lists, self.reducing.flavor);
            let written = Written { kinds, lists, flavor, thread, kind };
            written.before(after, is_new, &mut drafts);
            drafts
        };
        match self.kinds.acts[process][edge as usize] {
            Act::Nop => add(after.clone(), None),
            Act::Read(x, value) => {
                let sources = self.kinds.sources(x, value);
                sources.iter().for_each(|&kind| add(after.clone(), Some(plain(kind))));
            }
            Act::Find(x, value) => {
                let sources = self.kinds.sources(x, value);
                sources.iter().for_each(|&kind| add(after.clone(), Some(last(kind))));
            }
            Act::Write(x, value) => written(x, value).into_iter().for_each(|draft| add(draft, None)),
            Act::Update(x, old, new) => {
                for draft in written(x, new) {
                    let sources = self.kinds.sources(x, old);
                    let found = |kind: KindId| match self.reducing.flavor {
                        Flavor::Strong => last(kind),
                        Flavor::Weak => for_update(kind, thread),
                    };
                    sources.iter().for_each(|&kind| add(draft.clone(), Some(found(kind))));
                }
            }
        }
    }

    /// A thread whose last step can come last of all, if there is one.
    fn last_to_step(&self, after: &Draft) -> Option<ProcessId> {
        let is_last = |process: &ProcessId| match after.states[process.index()] {
            ABSENT => false,
            state => self.is_late[*process][state as usize],
        };
        self.program.processes.indices().find(is_last)
    }

    /// Appends the predecessors by a thread.
    fn before_steps(&self, after: &Draft, process: ProcessId, out: &mut Vec<(Rule, Constraint)>) {
        let automaton = &self.program.processes[process];
        match after.states[process.index()] {
            ABSENT => {
                for edge in 0..automaton.edges.len() as u32 {
                    if matches!(self.kinds.acts[process][edge as usize], Act::Write(..) | Act::Update(..)) {
                        self.before(after, (process, edge), out);
                    }
                }
            }
            state => {
                let incoming = automaton.incoming[state as usize].iter();
                for &edge in incoming.filter(|&&edge| self.is_of_use(process, edge)) {
                    self.before(after, (process, edge), out);
                }
            }
        }
    }

    /// Whether an edge of a thread that is in a state leads to predecessors that say anything new.
    fn is_of_use(&self, process: ProcessId, edge: u32) -> bool {
        let it = &self.program.processes[process].edges[edge as usize];
        match self.kinds.acts[process][edge as usize] {
            Act::Nop | Act::Read(..) | Act::Find(..) => it.from != it.to,
            Act::Write(..) | Act::Update(..) => true,
        }
    }

    /// The values at the start, if all letters are of messages that may be there.
    pub(super) fn beginning(&self, constraint: &[u32]) -> Option<Vec<Datum>> {
        let mut values: Vec<Option<Datum>> = vec![None; self.program.values.len() + 1];
        let lists = sets(constraint).iter().flat_map(|&set| self.lists.set(set));
        for &letter in lists.flat_map(|list| self.lists.list(list)) {
            if self.kinds.marked(letter).is_some() {
                return None;
            }
            let kind = self.kinds.get(kind_of(letter));
            let is_initial = match self.program.initial.as_slice().get(kind.place as usize) {
                Some(initial) => initial.contains(&kind.value),
                None => true,
            };
            let is_first = !matches!(kind.writer, Writer::Thread(_)) && is_initial;
            if !is_first || *values[kind.place as usize].get_or_insert(kind.value) != kind.value {
                return None;
            }
        }
        let initial = self.program.initial.iter().zip(values);
        Some(initial.map(|(initial, value)| value.unwrap_or(initial[0])).collect())
    }
}

/// For each state of a thread whether all that leads there only reads: what is read then is still there when the others
/// have gone on, and none of them can tell, so that the last step of the thread can come last of all. Whoever is where
/// it may have started need not have taken a step. An access of a last message has its place among the others.
fn late(program: &RegisterFree, kinds: &Kinds, process: ProcessId, reducing: Reducing) -> Vec<bool> {
    let automaton = &program.processes[process];
    let is_reading = |edge: &u32| matches!(kinds.acts[process][*edge as usize], Act::Nop | Act::Read(..));
    let is_late = |(state, incoming): (StateId, &Vec<u32>)| {
        reducing.late_reads && !automaton.initial.contains_key(&state) && incoming.iter().all(is_reading)
    };
    (0..).zip(&automaton.incoming).map(is_late).collect()
}

impl WellStructured for Potentials<'_> {
    type Constraint = Constraint;
    type Rule = Rule;

    fn bad(&self) -> Vec<Constraint> {
        let mut out = Vec::new();
        self.bad.iter().for_each(|bad| self.start(bad, &mut out));
        out
    }

    fn predecessors(&self, of: &Constraint, out: &mut Vec<(Rule, Constraint)>) {
        let after = Draft::of(of, &self.lists);
        match self.last_to_step(&after) {
            Some(process) => self.before_steps(&after, process, out),
            None => self.program.processes.indices().for_each(|process| self.before_steps(&after, process, out)),
        }
    }

    fn entails(&self, smaller: &Constraint, larger: &Constraint) -> bool {
        let mut both = states(smaller).iter().zip(states(larger));
        let mut asked = sets(smaller).iter().zip(sets(larger));
        both.all(|(mine, theirs)| mine == theirs || *theirs == ABSENT)
            && asked.all(|(&mine, &theirs)| self.lists.is_below(theirs, mine))
    }

    fn is_initial(&self, constraint: &Constraint) -> bool {
        let mut all = self.program.processes.iter().zip(states(constraint));
        all.all(|(process, state)| *state == ABSENT || process.initial.contains_key(state))
            && self.beginning(constraint).is_some()
    }
}

impl Indexed for Potentials<'_> {
    type Outline = Processes;

    fn outline(&self, constraint: &Constraint) -> Processes {
        let all = states(constraint).iter().enumerate();
        all.filter(|(_, state)| **state == ABSENT).map(|(process, _)| ProcessId::from_usize(process)).collect()
    }

    fn is_within(&self, smaller: &Processes, larger: &Processes) -> bool {
        smaller.among(*larger) == *smaller
    }

    fn bucket(&self, constraint: &Constraint, outline: &Processes) -> u64 {
        let mut key = Key::new(outline.0);
        for (process, &state) in states(constraint).iter().enumerate() {
            let is_open = outline.contains(ProcessId::from_usize(process));
            key.mix(u64::from(if is_open { ABSENT } else { state }));
        }
        key.get()
    }

    /// The least of those that renamings lead to may be covered by what is least of others only after a renaming.
    fn images(&self, constraint: &Constraint) -> Vec<Constraint> {
        self.turning.images(constraint, &self.lists).split_off(1)
    }

    fn signature(&self, constraint: &Constraint) -> u64 {
        let mut bits = 0;
        for (thread, &set) in sets(constraint).iter().enumerate() {
            for &letter in self.lists.set(set).flat_map(|list| self.lists.list(list)) {
                bits |= 1 << ((kind_of(letter) as usize * 7 + thread * 29) % 64);
            }
        }
        bits
    }

    fn weight(&self, constraint: &Constraint) -> u32 {
        let distance = |(process, &state): (usize, &StateId)| match state {
            ABSENT => 0,
            state => self.distances[ProcessId::from_usize(process)][state as usize],
        };
        let letters = sets(constraint).iter().flat_map(|&set| self.lists.set(set));
        let n_letters: usize = letters.map(|list| self.lists.list(list).len()).sum();
        states(constraint).iter().enumerate().map(distance).sum::<u32>() + 2 * n_letters as u32
    }

    fn bytes(&self) -> u64 {
        let n = self.program.processes.len();
        debug_assert_eq!(n_threads(&vec![0; 2 * n + 1]), n);
        (2 * n as u64 + 1) * 4 + 96
    }

    fn work_of_predecessor(&self) -> u32 {
        16
    }
}
