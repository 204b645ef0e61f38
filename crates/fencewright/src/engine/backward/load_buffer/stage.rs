//! The store stage of PSO: a store buffer for each process and location, in front of the load buffers.
//!
//! | rule | condition | effect |
//! |---|---|---|
//! | write `x,v` | – | append v to the store buffer of x |
//! | serialize `x` | it holds v as its oldest | take v out; memory(x) := v; push own(x,v) on the load buffer |
//! | serialize `x`, immediate | the same, load buffer empty | take v out; memory(x) := v |
//! | read `x,v` | the store buffer of x is not empty: its newest is v | – |
//! | store-store fence | all store buffers of the process are empty | – |
//! | full fence, locked block | the same, and the load buffer is empty | – |
//! | update of `x` | the store buffer of x and the load buffer are empty | memory changes |
//!
//! In the order a store buffer may hold more, but not before nothing, and the newest store is the same. A store-store
//! fence waits here; the process's view may lag instead, which is why it samples memory only where such a fence comes
//! next, and why a process without such fences has no load buffer at all.

use crate::engine::automaton::Atomic;
use crate::engine::backward::Words;
use crate::engine::backward::load_buffer::constraint::{Message, STAR, may_be};
use crate::engine::backward::load_buffer::facts::waits_for;
use crate::engine::backward::load_buffer::system::{Constraint, LoadBuffers, Rule, RuleKind, Stage};
use crate::program::{LocationId, ProcessId};
use crate::util::BitSet;

impl LoadBuffers<'_> {
    /// Whether a store of the process to the location is pending in the stage.
    pub(super) fn is_staged(&self, constraint: &[u32], process: ProcessId, x: LocationId) -> bool {
        self.stage != Stage::None && constraint[self.store(process, x)] != Words::EMPTY
    }

    /// Whether the stage lets an atomic step act.
    pub(super) fn may_act(&self, constraint: &[u32], process: ProcessId, atomic: &Atomic) -> bool {
        match self.stage {
            Stage::None => true,
            Stage::PerLocation(rmw) => {
                let mut locations = self.program.values.indices();
                locations.all(|x| !waits_for(atomic, x, rmw) || !self.is_staged(constraint, process, x))
            }
        }
    }

    /// Before a read of the newest store in the stage.
    pub(super) fn by_staged_read(
        &mut self,
        (id, process): (u32, ProcessId),
        (x, value): (LocationId, u32),
        mut before: Constraint,
        out: &mut Vec<(Rule, Constraint)>,
    ) {
        let word = self.store(process, x);
        let mut letters = self.letters(before[word]).to_vec();
        let newest = letters.last_mut().expect("a store is pending");
        if may_be(*newest, value) {
            *newest = value;
            before[word] = self.intern_letters(letters);
            self.offer(Rule { process, kind: RuleKind::ReadOwn(id) }, before, out);
        }
    }

    /// Before a write went into the stage: it was the newest, and may hide an older one.
    pub(super) fn by_staged_write(
        &mut self,
        (id, process): (u32, ProcessId),
        (x, value): (LocationId, u32),
        before: &[u32],
        out: &mut Vec<(Rule, Constraint)>,
    ) {
        let word = self.store(process, x);
        let mut letters = self.letters(before[word]).to_vec();
        if !letters.pop().is_some_and(|newest| may_be(newest, value)) {
            return;
        }
        let rule = Rule { process, kind: RuleKind::Store(id) };
        for hidden in [None, Some(STAR)] {
            let mut earlier: Constraint = before.into();
            earlier[word] = self.intern_letters(letters.iter().copied().chain(hidden).collect());
            self.offer(rule, earlier, out);
        }
    }

    /// Before the oldest store of a location left the stage.
    pub(super) fn by_serialization(&mut self, of: &[u32], process: ProcessId, out: &mut Vec<(Rule, Constraint)>) {
        let messages = self.word(of, process);
        for x in self.facts().of[process].written.clone() {
            let cell = of[self.memory(x)];
            let (value, pushes) = match messages.split_last() {
                None => (cell, false),
                Some((newest, _)) if !newest.is_own_of(x) => continue,
                Some((newest, _)) if cell == STAR || may_be(newest.value(), cell) => {
                    (if cell == STAR { newest.value() } else { cell }, true)
                }
                Some(_) => continue,
            };
            let word = self.store(process, x);
            let later = self.letters(of[word]).to_vec();
            let is_last = later.is_empty();
            let mut before: Constraint = of.into();
            before[word] = self.intern_letters([&[value], &later[..]].concat());
            before[self.memory(x)] = STAR;
            let rule = Rule { process, kind: RuleKind::Serialize { location: x, value, is_last, pushes } };
            if pushes {
                let rest: &[Message] = &messages[..messages.len() - 1];
                self.before_own(rule, self.buffer(process), rest, &before, x, out);
            } else {
                self.offer(rule, before, out);
            }
        }
    }

    /// F3: what is pending was written since the process last waited, and the newest was written last.
    pub(super) fn admit_pending(&mut self, constraint: &mut [u32], process: ProcessId, state: usize) -> bool {
        if self.stage == Stage::None {
            return true;
        }
        for x in self.program.values.indices() {
            let word = self.store(process, x);
            if constraint[word] == Words::EMPTY {
                continue;
            }
            let mut letters = self.letters(constraint[word]).to_vec();
            let pending = &self.facts().of[process].pending[crate::util::Idx::index(x)][state];
            let last = letters.len() - 1;
            let fits = letters
                .iter_mut()
                .enumerate()
                .all(|(i, letter)| sharpen(letter, if i == last { &pending.newest } else { &pending.any }));
            if !fits {
                return false;
            }
            constraint[word] = self.intern_letters(letters);
        }
        true
    }

    /// Whether every stage above the second is above the first: the same buffers are empty, the newest stores are the
    /// same, the others may be more.
    pub(super) fn is_stage_below(&self, a: &[u32], b: &[u32], process: ProcessId) -> bool {
        if self.stage == Stage::None {
            return true;
        }
        self.program.values.indices().all(|x| {
            let word = self.store(process, x);
            let (a, b) = (self.letters(a[word]), self.letters(b[word]));
            match (a.split_last(), b.split_last()) {
                (None, None) => true,
                (Some((newest_a, a)), Some((newest_b, b))) => {
                    let mut rest = b.iter();
                    let covers = |a: u32, b: u32| a == STAR || a == b;
                    covers(*newest_a, *newest_b) && a.iter().all(|&a| rest.any(|&b| covers(a, b)))
                }
                (None, Some(_)) | (Some(_), None) => false,
            }
        })
    }
}

/// Replaces a `*` by the only possible value; `false` if the value is not possible.
fn sharpen(letter: &mut u32, possible: &BitSet) -> bool {
    let mut values = possible.iter();
    match (values.next(), values.next()) {
        (None, _) => false,
        (Some(only), None) if *letter == STAR => {
            *letter = only as u32;
            true
        }
        _ => *letter == STAR || possible.contains(*letter as usize),
    }
}
