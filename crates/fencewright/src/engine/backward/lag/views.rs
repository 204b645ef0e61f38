//! Predecessors by reads, writes, samples and deletions: what the load buffer was before.

use crate::engine::backward::lag::constraint::Message;
use crate::engine::backward::lag::read_back::Edge;
use crate::engine::backward::lag::system::{Draft, LoadBuffers, Out, Rule, RuleKind};
use crate::engine::backward::lag::values::Values;
use crate::program::{LocationId, ProcessId};
use crate::util::Idx;

impl LoadBuffers<'_> {
    /// Before a read.
    pub(in crate::engine::backward) fn by_read(
        &self,
        edge: &Edge,
        word: &[Message],
        (x, values): (LocationId, Values),
        of: &Draft,
        out: &mut Out,
    ) {
        let buffer = self.buffer(edge.process);
        let own = edge.rule(RuleKind::ReadOwn);
        if let Some(at) = word.iter().rposition(|message| message.is_own_of(x)) {
            if let Some(both) = word[at].values().meet(values) {
                let mut word = word.to_vec();
                word[at] = word[at].with_values(both);
                let mut before = edge.before(of);
                before.words[buffer] = self.intern(word);
                self.offer_each(own, before, &edge.forgotten, 0, out);
            }
            return;
        }
        let mut others = edge.forgotten.clone();
        others.retain(|&y| y != x);
        if others.len() < edge.forgotten.len() {
            for with in self.with_own(&edge.before(of), edge.process, (x, values), 0) {
                self.offer_each(own, with, &others, 0, out);
            }
        }
        if word.is_empty()
            && let Some(both) = of.memory[x.index()].meet(values)
        {
            let mut before = edge.before(of);
            before.memory[x.index()] = both;
            self.offer(edge.rule(RuleKind::Drained), before, out);
        }
        if !self.machine.lags {
            return;
        }
        let rule = edge.rule(RuleKind::ReadHead);
        let head = word.first().filter(|head| !head.is_own() && head.location() == x).map(|head| head.values());
        if let Some(both) = head.and_then(|head| head.meet(values)) {
            let mut before = edge.before(of);
            before.words[buffer] = self.intern([&[Message::sample(x, both)], &word[1..]].concat());
            self.offer_each(rule, before, &others, 1, out);
        }
        // Where all that the head may be can be read, another message in front of it is above that.
        if !head.is_some_and(|head| values.covers(head)) {
            let mut before = edge.before(of);
            before.words[buffer] = self.intern([&[Message::sample(x, values)], word].concat());
            self.offer_each(rule, before, &others, 1, out);
        }
    }

    /// Before a write that reached memory at once.
    pub(in crate::engine::backward) fn by_write(
        &self,
        edge: &Edge,
        word: &[Message],
        (x, value): (LocationId, Values),
        of: &Draft,
        out: &mut Out,
    ) {
        if of.memory[x.index()].meet(value).is_none() {
            return;
        }
        let before = || {
            let mut before = edge.before(of);
            before.memory[x.index()] = Values::ANY;
            before
        };
        let rule = edge.rule(RuleKind::Write);
        if !self.own(edge.process).counts(edge.to, x) {
            if word.is_empty() {
                self.offer(edge.rule(RuleKind::Drained), before(), out);
            }
            if !word.is_empty() || !edge.forgotten.is_empty() {
                self.offer_each(rule, before(), &edge.forgotten, 0, out);
            }
            return;
        }
        match word.split_last() {
            None => self.offer(edge.rule(RuleKind::Drained), before(), out),
            Some((newest, rest)) if newest.is_own_of(x) && newest.values().meet(value).is_some() => {
                self.before_own(rule, rest, before(), (x, &edge.forgotten), out);
            }
            Some(_) => {}
        }
    }

    /// The buffers before an own message of `x` was pushed behind `rest`.
    pub(in crate::engine::backward) fn before_own(
        &self,
        rule: Rule,
        rest: &[Message],
        mut plain: Draft,
        (x, forgotten): (LocationId, &[LocationId]),
        out: &mut Out,
    ) {
        plain.words[self.buffer(rule.process)] = self.intern(rest.to_vec());
        // The write may have shadowed an older one, which was newest-own until then.
        let first = rest.iter().rposition(|message| message.is_own_of(x)).map_or(0, |at| at + 1);
        for shadowing in self.with_own(&plain, rule.process, (x, Values::ANY), first) {
            self.offer_each(rule, shadowing, forgotten, 0, out);
        }
        self.offer_each(rule, plain, forgotten, 0, out);
    }

    /// The predecessors by samples and deletions.
    pub(in crate::engine::backward) fn by_view(&self, of: &Draft, process: ProcessId, out: &mut Out) {
        let state = of.words[process.index()];
        let buffer = self.buffer(process);
        let word = self.word(&of.words, process);
        let facts = &self.facts().of[process];
        let is_everywhere = !self.reducing().view_steps;
        if let Some((newest, rest)) = word.split_last()
            && !newest.is_own()
            && (is_everywhere || facts.samples[state as usize])
            && let Some(both) = of.memory[newest.location().index()].meet(newest.values())
        {
            let mut before = of.clone();
            before.memory[newest.location().index()] = both;
            before.words[buffer] = self.intern(rest.to_vec());
            self.offer(Rule::new(process, RuleKind::Propagate(newest.location())), before, out);
        }
        if is_everywhere || facts.has_read[state as usize] {
            let counted = facts.written.iter().filter(|&&x| self.own(process).counts(state, x));
            for &x in counted.filter(|&&x| word.iter().all(|message| !message.is_own_of(x))) {
                let mut before = of.clone();
                before.words[buffer] = self.intern([&[Message::own(x, Values::ANY)], &word[..]].concat());
                self.offer(Rule::new(process, RuleKind::Delete(x)), before, out);
            }
        }
    }
}
