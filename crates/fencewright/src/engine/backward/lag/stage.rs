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

use crate::engine::backward::facts::{Stage, waits_for};
use crate::engine::backward::lag::choices::AtomicAct;
use crate::engine::backward::lag::constraint::Message;
use crate::engine::backward::lag::read_back::Edge;
use crate::engine::backward::lag::sharpen::sharpened;
use crate::engine::backward::lag::system::{Draft, LoadBuffers, Out, Rule, RuleKind};
use crate::engine::backward::lag::values::Values;
use crate::engine::backward::{WordId, Words};
use crate::program::{LocationId, ProcessId};
use crate::util::Idx;

impl LoadBuffers<'_> {
    /// Whether a store of the process to the location is pending in the stage.
    pub(in crate::engine::backward) fn is_staged(&self, words: &[u32], process: ProcessId, x: LocationId) -> bool {
        self.machine.stage != Stage::None && words[self.store(process, x)] != Words::EMPTY
    }

    /// Whether the stage lets an atomic step act.
    pub(in crate::engine::backward) fn may_act(&self, words: &[u32], process: ProcessId, atomic: &AtomicAct) -> bool {
        match self.machine.stage {
            Stage::None => true,
            Stage::PerLocation(rmw) => {
                let mut locations = self.program.values.indices();
                locations.all(|x| !waits_for(atomic.waits_for, x, rmw) || !self.is_staged(words, process, x))
            }
        }
    }

    /// Before a read of the newest store in the stage.
    pub(in crate::engine::backward) fn by_staged_read(
        &self,
        edge: &Edge,
        (x, values): (LocationId, Values),
        of: &Draft,
        out: &mut Out,
    ) {
        let word = self.store(edge.process, x);
        let (newest, older) = self.letters(of.words[word]).split_last().expect("a store is pending");
        if let Some(both) = Values::from_bits(*newest).meet(values) {
            let letters = [older, &[both.bits()]].concat();
            let mut before = edge.before(of);
            before.words[word] = self.intern_letters(&letters);
            self.offer_each(edge.rule(RuleKind::ReadOwn), before, &edge.forgotten, 0, out);
        }
    }

    /// Before a write went into the stage: it was the newest, and may hide an older one. Of a blind process it may be
    /// one more than the constraint tells of.
    pub(in crate::engine::backward) fn by_staged_write(
        &self,
        edge: &Edge,
        (x, value): (LocationId, Values),
        of: &Draft,
        out: &mut Out,
    ) {
        let word = self.store(edge.process, x);
        let rule = edge.rule(RuleKind::Store);
        let is_blind = self.own(edge.process).is_blind(x);
        match self.letters(of.words[word]).split_last() {
            Some((&newest, older)) if Values::from_bits(newest).meet(value).is_some() => {
                let hidden: &[&[u64]] = if is_blind { &[&[]] } else { &[&[], &[Values::ANY.bits()]] };
                for hidden in hidden {
                    let mut earlier = edge.before(of);
                    earlier.words[word] = self.intern_letters(&[older, hidden].concat());
                    self.offer_each(rule, earlier, &edge.forgotten, 0, out);
                }
            }
            Some(_) | None if is_blind => self.offer_each(rule, edge.before(of), &edge.forgotten, 0, out),
            Some(_) | None => {}
        }
    }

    /// Before the oldest store of a location left the stage.
    pub(in crate::engine::backward) fn by_serialization(&self, of: &Draft, process: ProcessId, out: &mut Out) {
        let messages = self.word(&of.words, process);
        for &x in &self.facts().of[process].written {
            let cell = of.memory[x.index()];
            let counts = self.own(process).counts(of.words[process.index()], x);
            let (values, pushes) = match messages.split_last() {
                None => (cell, false),
                Some(_) if !counts => (cell, true),
                Some((newest, _)) if !newest.is_own_of(x) => continue,
                Some((newest, _)) => match newest.values().meet(cell) {
                    Some(both) => (both, true),
                    None => continue,
                },
            };
            let word = self.store(process, x);
            let later = self.letters(of.words[word]);
            let is_last = later.is_empty() && !self.own(process).is_blind(x);
            let mut before = of.clone();
            before.words[word] = self.intern_letters(&[&[values.bits()], later].concat());
            before.memory[x.index()] = Values::ANY;
            let rule = Rule::new(process, RuleKind::Serialize { location: x, values, is_last, pushes });
            if pushes && counts {
                let rest: &[Message] = &messages[..messages.len() - 1];
                self.before_own(rule, rest, before, (x, &[]), out);
            } else {
                self.offer(rule, before, out);
            }
        }
    }

    /// Pending stores: what is pending was written since the process last waited, and the newest was written last.
    pub(in crate::engine::backward) fn admit_pending(
        &self,
        words: &mut [u32],
        process: ProcessId,
        state: usize,
    ) -> bool {
        if self.machine.stage == Stage::None {
            return true;
        }
        let sets = self.reducing().value_sets;
        for x in self.program.values.indices() {
            let word = self.store(process, x);
            if words[word] == Words::EMPTY {
                continue;
            }
            let letters = self.letters(words[word]);
            let (any, newest) = &self.sharpening(process).pending[x.index()][state];
            let last = if self.own(process).is_blind(x) { letters.len() } else { letters.len() - 1 };
            // Most are as sharp as they get: these are neither copied nor looked up.
            let mut sharper: Option<Vec<u64>> = None;
            for (i, &letter) in letters.iter().enumerate() {
                let allowed = if i == last { newest } else { any };
                let left = sharpened(x, Values::from_bits(letter), allowed, &self.encoding, sets);
                let Some(left) = left else { return false };
                if left.bits() != letter {
                    sharper.get_or_insert_with(|| letters.to_vec())[i] = left.bits();
                }
            }
            if let Some(letters) = sharper {
                words[word] = self.intern_letters(&letters);
            }
        }
        true
    }

    /// Whether every stage above the second is above the first: the same buffers are empty, the newest stores are the
    /// same, the others may be more; where the process is blind, all may be more.
    pub(in crate::engine::backward) fn is_stage_below(&self, a: &[u32], b: &[u32], process: ProcessId) -> bool {
        self.machine.stage == Stage::None
            || self.program.values.indices().all(|x| {
                let word = self.store(process, x);
                self.is_store_below(a[word], b[word], process, x)
            })
    }

    /// The same of one store buffer.
    pub(in crate::engine::backward) fn is_store_below(
        &self,
        a: WordId,
        b: WordId,
        process: ProcessId,
        x: LocationId,
    ) -> bool {
        let covers = |a: u64, b: u64| Values::from_bits(a).covers(Values::from_bits(b));
        let is_within = |a: &[u64], b: &[u64]| {
            let mut rest = b.iter();
            a.iter().all(|&a| rest.any(|&b| covers(a, b)))
        };
        match (self.letters(a).split_last(), self.letters(b).split_last()) {
            _ if a == b => true,
            _ if self.own(process).is_blind(x) => is_within(self.letters(a), self.letters(b)),
            (Some((newest_a, a)), Some((newest_b, b))) => covers(*newest_a, *newest_b) && is_within(a, b),
            (None, Some(_)) | (Some(_), None) | (None, None) => false,
        }
    }
}
