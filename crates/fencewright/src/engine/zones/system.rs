//! The load-buffer semantics over zones: bad constraints, predecessors, order.
//!
//! The rules are those of [`load_buffer`](crate::engine::backward::load_buffer): a write is in memory at once, the view
//! of its process lags. Here registers, memory and messages are variables of a zone, and what a rule does is an
//! assignment; what holds before it is read off by substitution, exactly:
//!
//! | rule | what the variables after it were before it |
//! |---|---|
//! | write `x := e` | memory(x) and the own message that is pushed: e |
//! | load `r := x`, own | r: the newest own message of x |
//! | load `r := x`, head | r: the oldest message, a sample of x, if there is no own message of x |
//! | load `r := x`, memory | r: memory(x), if the buffer is empty |
//! | propagate `x` | the sample that is pushed: memory(x) |
//! | delete | the oldest message goes |
//! | fence, atomic | the buffer is empty |
//!
//! Under PSO a store stage stands in front ([`stage`](super::stage)).

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::engine::backward::{Generalizing, Indexed, WellStructured};
use crate::engine::symbolic::flow::{Act, ProcessFlow, Step};
use crate::engine::symbolic::layout::Layout;
use crate::engine::symbolic::writers::Writers;
use crate::engine::zones::constraint::{Buffers, Constraint, Message};
use crate::engine::zones::facts::{Machine, ProcessFacts};
use crate::engine::zones::invariants::Invariants;
use crate::numeric::{Bound, Zone};
use crate::program::{FenceKind, LocationId, ProcessId, Program};
use crate::util::{Idx, IndexVec};

/// Where predecessors go.
pub(super) type Out = Vec<(Rule, Constraint)>;

/// What leads from one configuration to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// Whose step it is.
    pub process: ProcessId,
    /// What it does.
    pub kind: RuleKind,
}

/// The rules; letters are counted within the buffers of the process, before the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleKind {
    /// A step that leaves memory and buffers alone, whatever they hold.
    Pass(u32),
    /// A load of an own message, or of a pending store.
    ReadOwn(u32),
    /// A load of the oldest message; whether it goes away with it.
    ReadHead {
        /// The step.
        step: u32,
        /// Whether the constraint after the rule does not speak of the message any more.
        is_last_use: bool,
    },
    /// A store that pushes an own message; whether the constraint before it speaks of one that it shadows, and where.
    Write {
        /// The step.
        step: u32,
        /// The letter.
        shadowed: Option<u32>,
    },
    /// A store into the stage; the same.
    Store {
        /// The step.
        step: u32,
        /// The letter.
        shadowed: Option<u32>,
    },
    /// A pending store leaves the stage.
    Serialize {
        /// Of this location.
        location: LocationId,
        /// The letter that it is.
        letter: u32,
        /// Whether an own message is pushed, and the letter of the one that it shadows.
        pushed: Option<Option<u32>>,
    },
    /// A step with an empty buffer.
    Drained(u32),
    /// A sample of memory.
    Propagate(LocationId),
    /// The oldest message goes, an own one.
    Delete,
}

/// The load-buffer semantics of a program over zones.
#[derive(Debug)]
pub(super) struct Zones<'a> {
    pub(super) program: &'a Program,
    pub(super) flows: &'a IndexVec<ProcessId, ProcessFlow>,
    pub(super) facts: &'a IndexVec<ProcessId, ProcessFacts>,
    pub(super) writers: &'a IndexVec<LocationId, Writers>,
    pub(super) invariants: &'a Invariants,
    pub(super) machine: Machine,
    pub(super) layout: &'a Layout,
    /// How a run starts.
    pub(super) initial: &'a Zone,
    pub(super) bad: &'a [Constraint],
    /// So many constraints of one shape are kept before the next is widened; `None` never widens.
    pub(super) widen_from: Option<usize>,
}

/// Letters before a rule, each with the letter after it that it is, if it is one.
pub(super) type Letters<T> = Vec<(T, Option<usize>)>;

impl Zones<'_> {
    /// The predecessors by steps of a process.
    fn by_steps(&self, of: &Constraint, process: ProcessId, out: &mut Out) {
        let flow = &self.flows[process];
        let buffers = &of.buffers[process.index()];
        for &id in &flow.incoming[of.states[process.index()] as usize] {
            let step = &flow.steps[id as usize];
            let is_drained = buffers.messages.is_empty();
            match step.act {
                Act::Local => self.unchanged(RuleKind::Pass(id), process, of, step, out),
                Act::Fence(FenceKind::StoreStore) if buffers.pending.is_empty() => {
                    self.unchanged(RuleKind::Pass(id), process, of, step, out);
                }
                Act::Fence(FenceKind::Full) if is_drained && buffers.pending.is_empty() => {
                    self.unchanged(RuleKind::Drained(id), process, of, step, out);
                }
                Act::Atomic(own) if is_drained && self.may_act(buffers, own) => {
                    self.unchanged(RuleKind::Drained(id), process, of, step, out);
                }
                Act::Fence(_) | Act::Atomic(_) => {}
                Act::Load(x) => self.by_load((id, process), x, of, out),
                Act::Store(x, _) if self.machine.stage.is_some() => self.by_staged_store((id, process), x, of, out),
                Act::Store(x, _) => self.by_store((id, process), x, of, out),
            }
        }
    }

    /// Before a step that leaves the buffers as they are.
    fn unchanged(&self, kind: RuleKind, process: ProcessId, of: &Constraint, step: &Step, out: &mut Out) {
        let draft = self.draft(of, process).step(step);
        self.offer(Rule { process, kind }, draft.build(), out);
    }

    fn by_load(&self, (id, process): (u32, ProcessId), x: LocationId, of: &Constraint, out: &mut Out) {
        let buffers = &of.buffers[process.index()];
        let step = &self.flows[process].steps[id as usize];
        let own = || buffers.messages.iter().rposition(|message| message.is_own_of(x));
        if let Some(letter) = buffers.newest_pending(x).or_else(own) {
            let draft = self.draft(of, process).step(step).loading_letter(letter);
            return self.offer(Rule { process, kind: RuleKind::ReadOwn(id) }, draft.build(), out);
        }
        if buffers.messages.is_empty() {
            let draft = self.draft(of, process).step(step).loading_memory(x);
            self.offer(Rule { process, kind: RuleKind::Drained(id) }, draft.build(), out);
        }
        if !self.facts[process].may_lag[step.from as usize] {
            return;
        }
        if buffers.messages.first() == Some(&Message::sample(x)) {
            let draft = self.draft(of, process).step(step).loading_letter(0);
            let kind = RuleKind::ReadHead { step: id, is_last_use: false };
            self.offer(Rule { process, kind }, draft.build(), out);
        }
        let messages = [(Message::sample(x), None)].into_iter().chain(kept(&buffers.messages)).collect();
        let draft = self.draft(of, process).messages(messages).step(step).loading_letter(0);
        let kind = RuleKind::ReadHead { step: id, is_last_use: true };
        self.offer(Rule { process, kind }, draft.build(), out);
    }

    fn by_store(&self, (id, process): (u32, ProcessId), x: LocationId, of: &Constraint, out: &mut Out) {
        let messages = &of.buffers[process.index()].messages;
        let step = &self.flows[process].steps[id as usize];
        let Some((newest, rest)) = messages.split_last() else {
            let draft = self.draft(of, process).step(step).storing(x, None);
            return self.offer(Rule { process, kind: RuleKind::Drained(id) }, draft.build(), out);
        };
        if !newest.is_own_of(x) {
            return;
        }
        for (shadowed, before) in before_own(rest, x) {
            let draft = self.draft(of, process).messages(before).step(step).storing(x, Some(rest.len()));
            self.offer(Rule { process, kind: RuleKind::Write { step: id, shadowed } }, draft.build(), out);
        }
    }

    /// The predecessors by samples and deletions.
    fn by_view(&self, of: &Constraint, process: ProcessId, out: &mut Out) {
        let state = of.states[process.index()] as usize;
        let messages = &of.buffers[process.index()].messages;
        if let Some((newest, rest)) = messages.split_last()
            && !newest.is_own
            && self.facts[process].samples[state]
        {
            let x = newest.location;
            let draft = self.draft(of, process).messages(kept(rest).collect()).sampling(x, rest.len());
            self.offer(Rule { process, kind: RuleKind::Propagate(x) }, draft.build(), out);
        }
        if self.facts[process].has_read[state] {
            for &x in &self.facts[process].stored {
                if messages.iter().all(|message| !message.is_own_of(x)) {
                    let before = [(Message::own(x), None)].into_iter().chain(kept(messages)).collect();
                    let draft = self.draft(of, process).messages(before);
                    self.offer(Rule { process, kind: RuleKind::Delete }, draft.build(), out);
                }
            }
        }
    }

    /// Adds a predecessor unless a fact excludes it.
    pub(super) fn offer(&self, rule: Rule, before: Option<Constraint>, out: &mut Out) {
        out.extend(before.and_then(|before| self.admitted(before)).map(|before| (rule, before)));
    }

    pub(super) fn processes(&self) -> impl Iterator<Item = ProcessId> + use<> {
        self.flows.indices()
    }
}

/// Letters that stay where they are.
pub(super) fn kept<T: Copy>(letters: &[T]) -> impl Iterator<Item = (T, Option<usize>)> {
    letters.iter().enumerate().map(|(i, &letter)| (letter, Some(i)))
}

/// The messages before an own message of `x` was pushed behind `rest`, and the letter of one that it shadows, which was
/// newest-own until then.
pub(super) fn before_own(rest: &[Message], x: LocationId) -> Vec<(Option<u32>, Letters<Message>)> {
    let plain: Letters<Message> = kept(rest).collect();
    let first = rest.iter().rposition(|message| message.is_own_of(x)).map_or(0, |at| at + 1);
    let shadowing = (first..=rest.len()).map(|at| {
        let mut before = plain.clone();
        before.insert(at, (Message::own(x), None));
        (Some(at as u32), before)
    });
    [(None, plain.clone())].into_iter().chain(shadowing).collect()
}

impl WellStructured for Zones<'_> {
    type Constraint = Constraint;
    type Rule = Rule;

    fn bad(&self) -> Vec<Constraint> {
        self.bad.iter().cloned().filter_map(|bad| self.admitted(bad)).collect()
    }

    fn predecessors(&self, of: &Constraint, out: &mut Out) {
        for process in self.processes() {
            self.by_steps(of, process, out);
            if self.machine.lags {
                self.by_view(of, process, out);
            }
            if self.machine.stage.is_some() {
                self.by_serialization(of, process, out);
            }
        }
    }

    fn entails(&self, smaller: &Constraint, larger: &Constraint) -> bool {
        larger.covers(smaller, self.layout.n_base())
    }

    fn is_initial(&self, constraint: &Constraint) -> bool {
        let is_empty = |buffers: &Buffers| buffers.len() == 0;
        constraint.states.iter().all(|&state| state == 0)
            && constraint.buffers.iter().all(is_empty)
            && constraint.zone.clone().meet(self.initial, |i| i)
    }
}

impl Indexed for Zones<'_> {
    /// No process is left open.
    type Outline = ();

    fn outline(&self, _constraint: &Constraint) {}

    fn is_within(&self, (): &(), (): &()) -> bool {
        true
    }

    fn bucket(&self, constraint: &Constraint, (): &()) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (state, buffers) in constraint.states.iter().zip(&constraint.buffers) {
            state.hash(&mut hasher);
            buffers.newest_own().for_each(|x| x.hash(&mut hasher));
            usize::MAX.hash(&mut hasher);
            for (i, x) in buffers.pending.iter().enumerate() {
                if buffers.pending.get(i + 1) != Some(x) {
                    x.hash(&mut hasher);
                }
            }
            usize::MAX.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Which differences of memory and registers are bounded: a constraint that covers bounds fewer.
    fn signature(&self, constraint: &Constraint) -> u64 {
        let n = self.layout.n_base();
        let bounded = |&(i, j): &(usize, usize)| i != j && constraint.zone.bound(i, j) != Bound::NONE;
        let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        pairs.filter(bounded).fold(0, |signature, (i, j)| signature | 1 << ((i * n + j) % 64))
    }

    /// Short ways and short buffers first, but whatever is far away comes in the end, though the data has no end.
    fn weight(&self, constraint: &Constraint) -> u32 {
        let letters: usize = constraint.buffers.iter().map(Buffers::len).sum();
        constraint.depth + 2 * letters as u32
    }

    /// A constraint takes longer than where there are no zones.
    fn poll_every(&self) -> u64 {
        16
    }

    fn bytes(&self) -> u64 {
        (self.layout.n_base() * self.layout.n_base() * 8 + 64 * self.flows.len()) as u64
    }
}

impl Generalizing for Zones<'_> {
    fn generalized<'k>(
        &self,
        newcomer: &Constraint,
        kept: &mut dyn Iterator<Item = &'k Constraint>,
    ) -> Option<Constraint>
    where
        Self: 'k,
    {
        self.widened(newcomer, kept)
    }
}
