//! Which writes of its own a process can still tell from others.
//!
//! That a store is its own matters to a process only as long as it may read it back. An own message of `x` in the load
//! buffer of a process that reads `x` no more before the buffer is drained is like a message that nobody reads, and
//! constraints leave it out:
//!
//! ```text
//!    flag0 = 1; await flag1 == 0        own(flag0,1) is never read: it is left out everywhere
//!    x = 1; a = x; b = y                own(x,1) is left out from b = y on
//! ```
//!
//! A step after which a location is *forgotten* has predecessors with such a message at each place, and without.
//! Likewise, a process is *blind* for a location under PSO that it never reads and never waits for: its store buffer
//! may then hold more anywhere, also at its newest end.

use crate::engine::automaton::{Letter, LetterEdge, RegisterFree, StateId};
use crate::engine::backward::bad::Bad;
use crate::engine::backward::facts::{Facts, Stage, waits_for};
use crate::engine::backward::lag::constraint::Message;
use crate::engine::backward::lag::system::{Draft, LoadBuffers, Out, Reducing, Rule, RuleKind};
use crate::engine::backward::lag::values::Values;
use crate::program::{LocationId, ProcessId};
use crate::util::{BitSet, Idx, IndexVec};

/// The own writes of one process that matter.
#[derive(Debug)]
pub(in crate::engine::backward) struct OwnWrites {
    /// By state: the locations whose own messages count.
    counted: Vec<BitSet>,
    /// The locations that it writes, but never reads and never waits for.
    blind: BitSet,
}

impl OwnWrites {
    /// Whether own messages of a location count in a state.
    pub(in crate::engine::backward) fn counts(&self, state: StateId, x: LocationId) -> bool {
        self.counted[state as usize].contains(x.index())
    }

    /// Whether the process cannot tell what its store buffer of a location holds.
    pub(in crate::engine::backward) fn is_blind(&self, x: LocationId) -> bool {
        self.blind.contains(x.index())
    }

    /// The locations whose own messages count before a step, but not after it.
    pub(in crate::engine::backward) fn forgotten(&self, from: StateId, to: StateId) -> Vec<LocationId> {
        let counted = self.counted[from as usize].iter().map(LocationId::from_usize);
        counted.filter(|&x| !self.counts(to, x)).collect()
    }
}

/// The own writes of each process that matter.
pub(in crate::engine::backward) fn own_writes(
    program: &RegisterFree,
    facts: &Facts,
    bad: &[Bad],
    stage: Stage,
    reducing: Reducing,
) -> IndexVec<ProcessId, OwnWrites> {
    let is_asked_for = |x: LocationId| bad.iter().any(|bad| bad.memory.iter().any(|&(y, _)| x == y));
    let of = facts.of.iter_enumerated().map(|(id, facts)| {
        let process = &program.processes[id];
        let is_sole = |x: LocationId| reducing.single_writer && facts.sole.iter().any(|&(y, _)| x == y);
        let is_blind = |x: &LocationId| {
            let minds = |edge: &LetterEdge| minds(&edge.letter, *x, stage);
            // What is asked of memory, or known about it, may depend on whether a store is pending.
            reducing.read_back && !is_asked_for(*x) && !is_sole(*x) && !process.edges.iter().any(minds)
        };
        let all: BitSet = facts.written.iter().map(|x| x.index()).collect();
        OwnWrites {
            counted: if reducing.read_back { facts.reads_back.clone() } else { vec![all; process.states.len()] },
            blind: facts.written.iter().filter(|x| is_blind(x)).map(|x| x.index()).collect(),
        }
    });
    of.collect()
}

/// Whether a step depends on what the store buffer of a location holds.
fn minds(letter: &Letter, x: LocationId, stage: Stage) -> bool {
    match (letter, stage) {
        (Letter::Read(y, _), _) => *y == x,
        (Letter::Fence(_), _) => true,
        (Letter::Atomic(atomic), Stage::PerLocation(rmw)) => waits_for(atomic.waits_for, x, rmw),
        (Letter::Atomic(_), Stage::None) => true,
        (Letter::Nop | Letter::Write(..), _) => false,
    }
}

/// An edge that leads to a constraint.
#[derive(Debug)]
pub(in crate::engine::backward) struct Edge {
    /// Its choice.
    pub id: u32,
    /// Its process.
    pub process: ProcessId,
    /// Where it starts.
    pub from: StateId,
    /// Where it leads.
    pub to: StateId,
    /// The locations whose own messages count before it, but not after it.
    pub forgotten: Vec<LocationId>,
}

impl Edge {
    /// A rule for the edge.
    pub(in crate::engine::backward) fn rule(&self, kind: fn(u32) -> RuleKind) -> Rule {
        Rule::new(self.process, kind(self.id))
    }

    /// What it leads to, with its process still at its start. That copies all of it, so whether the edge may be taken
    /// is looked at first.
    pub(in crate::engine::backward) fn before(&self, of: &Draft) -> Draft {
        of.moved(self.process, self.from)
    }
}

impl LoadBuffers<'_> {
    /// Before an edge that leaves memory and buffers alone.
    pub(in crate::engine::backward) fn by_nop(&self, edge: &Edge, of: &Draft, out: &mut Out) {
        self.offer_each(edge.rule(RuleKind::Nop), edge.before(of), &edge.forgotten, 0, out);
    }

    /// Offers a predecessor with and without own messages of locations that are forgotten, not before some place.
    pub(in crate::engine::backward) fn offer_each(
        &self,
        rule: Rule,
        before: Draft,
        forgotten: &[LocationId],
        first: usize,
        out: &mut Out,
    ) {
        let Some((&x, others)) = forgotten.split_first() else { return self.offer(rule, before, out) };
        for with in self.with_own(&before, rule.process, (x, Values::ANY), first) {
            self.offer_each(rule, with, others, first, out);
        }
        self.offer_each(rule, before, others, first, out);
    }

    /// The buffers with an own message more, at each place from some on.
    pub(in crate::engine::backward) fn with_own(
        &self,
        draft: &Draft,
        process: ProcessId,
        (x, values): (LocationId, Values),
        first: usize,
    ) -> Vec<Draft> {
        let word = self.word(&draft.words, process);
        let buffer = self.buffer(process);
        let inserted = (first..=word.len()).map(|at| {
            let mut word = word.clone();
            word.insert(at, Message::own(x, values));
            let mut with = draft.clone();
            with.words[buffer] = self.intern(word);
            with
        });
        inserted.collect()
    }
}
