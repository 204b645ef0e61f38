//! Predecessors by steps of a process that a constraint leaves open: only what changes memory matters, since all else
//! leads to a configuration that is in the constraint already.
//!
//! The load buffer of a newcomer is empty: whatever it holds, it can be emptied first. Under PSO its store buffers
//! cannot: a store that leaves them is seen. So they are guessed, as far as the order tells them apart:
//!
//! | store buffer | guesses |
//! |---|---|
//! | of the location that is written | the store alone, or in front of a newest one |
//! | of another location | empty, or not: then what is the newest is left to the facts |
//! | where the process is blind | open at both ends: one guess |

use crate::engine::automaton::StateId;
use crate::engine::backward::Words;
use crate::engine::backward::facts::{Stage, waits_for};
use crate::engine::backward::lag::choices::{Act, AtomicAct};
use crate::engine::backward::lag::system::{Draft, LoadBuffers, Out, Rule, RuleKind, before_atomic};
use crate::engine::backward::lag::values::Values;
use crate::memory::PsoRmw;
use crate::program::{LocationId, ProcessId};
use crate::util::Idx;
use crate::watch::heed;

impl LoadBuffers<'_> {
    /// The predecessors by steps of a process that the constraint leaves open.
    pub(in crate::engine::backward) fn newcomer(&self, of: &Draft, process: ProcessId, out: &mut Out) {
        match self.machine.stage {
            Stage::None => self.writing_newcomer(of, process, out),
            Stage::PerLocation(rmw) => {
                self.serializing_newcomer(of, process, out);
                self.updating_newcomer(of, (process, rmw), out);
            }
        }
    }

    /// Whether a step that writes one of these values makes memory what a constraint asks for.
    fn matters(of: &Draft, (x, values): (LocationId, Values)) -> bool {
        of.memory[x.index()] != Values::ANY && of.memory[x.index()].meet(values).is_some()
    }

    fn writing_newcomer(&self, of: &Draft, process: ProcessId, out: &mut Out) {
        for (id, choice) in self.choices[process].all.iter().enumerate() {
            let rule = Rule::new(process, RuleKind::Drained(id as u32));
            match &choice.act {
                &Act::Write(x, value) if Self::matters(of, (x, value)) => {
                    let mut before = of.moved(process, choice.from);
                    before.memory[x.index()] = Values::ANY;
                    self.offer(rule, before, out);
                }
                Act::Atomic(atomic) if atomic.writes.iter().any(|&write| Self::matters(of, write)) => {
                    if let Some(before) = before_atomic(of.moved(process, choice.from), atomic) {
                        self.offer(rule, before, out);
                    }
                }
                Act::Write(..) | Act::Atomic(_) | Act::Nop | Act::Read(..) | Act::Fence(_) => {}
            }
        }
    }

    /// A store leaves the store buffer of a process that may be anywhere.
    fn serializing_newcomer(&self, of: &Draft, process: ProcessId, out: &mut Out) {
        let facts = &self.facts().of[process];
        for &x in &facts.written {
            let values = of.memory[x.index()];
            if values == Values::ANY {
                continue;
            }
            let is_blind = self.own(process).is_blind(x);
            let states = self.program.processes[process].states.iter().enumerate();
            for (state, _) in states.filter(|(_, info)| info.fault.is_none()) {
                heed(4);
                if facts.pending[x.index()][state].newest.iter().next().is_none() {
                    continue;
                }
                let mut before = of.clone();
                before.words[process.index()] = state as StateId;
                before.memory[x.index()] = Values::ANY;
                let words: &[&[u64]] = match is_blind {
                    true => &[&[values.bits()]],
                    false => &[&[values.bits()], &[values.bits(), Values::ANY.bits()]],
                };
                for word in words {
                    let is_last = word.len() == 1 && !is_blind;
                    let kind = RuleKind::Serialize { location: x, values, is_last, pushes: false };
                    before.words[self.store(process, x)] = self.intern_letters(word);
                    self.offer_stages(
                        Rule::new(process, kind),
                        &before,
                        &self.guessed(process, state, &|y| y == x),
                        out,
                    );
                }
            }
        }
    }

    /// An atomic step of a process whose other stores may wait.
    fn updating_newcomer(&self, of: &Draft, (process, rmw): (ProcessId, PsoRmw), out: &mut Out) {
        for (id, choice) in self.choices[process].all.iter().enumerate() {
            let Act::Atomic(atomic) = &choice.act else { continue };
            if !atomic.writes.iter().any(|&write| Self::matters(of, write)) {
                continue;
            }
            let AtomicAct { waits_for: own, .. } = atomic;
            if let Some(before) = before_atomic(of.moved(process, choice.from), atomic) {
                let guessed = self.guessed(process, choice.from as usize, &|y| waits_for(*own, y, rmw));
                self.offer_stages(Rule::new(process, RuleKind::Drained(id as u32)), &before, &guessed, out);
            }
        }
    }

    /// The locations whose store buffers are to be guessed in a state: stores to them may be pending, the order tells
    /// whether they are, and nothing is known of them yet.
    fn guessed(&self, process: ProcessId, state: usize, is_known: &dyn Fn(LocationId) -> bool) -> Vec<LocationId> {
        let facts = &self.facts().of[process];
        let may_wait = |x: LocationId| facts.pending[x.index()][state].newest.iter().next().is_some();
        let written = facts.written.iter().copied();
        written.filter(|&x| !is_known(x) && !self.own(process).is_blind(x) && may_wait(x)).collect()
    }

    /// Offers a predecessor with each guess of what waits in some store buffers.
    fn offer_stages(&self, rule: Rule, before: &Draft, guessed: &[LocationId], out: &mut Out) {
        let Some((&x, others)) = guessed.split_first() else { return self.offer(rule, before.clone(), out) };
        for word in [Words::EMPTY, self.intern_letters(&[Values::ANY.bits()])] {
            let mut before = before.clone();
            before.words[self.store(rule.process, x)] = word;
            self.offer_stages(rule, &before, others, out);
        }
    }
}
