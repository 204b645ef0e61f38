//! What the static facts and the symmetry make of a predecessor before it is looked up.

use crate::engine::backward::Words;
use crate::engine::backward::lag::constraint::ABSENT;
use crate::engine::backward::lag::sharpen::sharpened;
use crate::engine::backward::lag::system::{Constraint, Draft, LoadBuffers};
use crate::engine::backward::lag::turning::Turn;
use crate::engine::backward::lag::values::Values;
use crate::program::{LocationId, ProcessId};
use crate::util::Idx;

impl LoadBuffers<'_> {
    /// Sharpens a constraint by the facts, and renames processes to make it the least of its like; `None` if the facts
    /// exclude it.
    pub(in crate::engine::backward) fn admitted(&self, mut draft: Draft) -> Option<(Turn, Constraint)> {
        let is_fine = self.processes().all(|process| {
            let state = draft.words[process.index()];
            if state == ABSENT {
                return true;
            }
            let has_messages = draft.words[self.buffer(process)] != Words::EMPTY;
            let may_lag = !self.reducing().lag_region || self.facts().of[process].may_lag[state as usize];
            (!has_messages || self.machine.lags && may_lag)
                && (!self.reducing().single_writer || self.admit_memory(&mut draft, process, state as usize))
                && (!self.reducing().last_writes || !has_messages || self.admit_own(&mut draft, process))
                && (!self.reducing().last_writes || self.admit_pending(&mut draft.words, process, state as usize))
        });
        is_fine.then(|| {
            let turn = self.turning().turn(self, &mut draft);
            let Draft { mut words, memory } = draft;
            let cells: Vec<u64> = memory.into_iter().map(Values::bits).collect();
            words[self.memory_word()] = self.intern_letters(&cells);
            (turn, words)
        })
    }

    /// Single writer: memory that only this process writes holds what it can have written last.
    fn admit_memory(&self, draft: &mut Draft, process: ProcessId, state: usize) -> bool {
        self.sharpening(process).sole.iter().all(|(x, held)| {
            if self.is_staged(&draft.words, process, *x) {
                return true;
            }
            let cell = &mut draft.memory[x.index()];
            let left = sharpened(*x, *cell, &held[state], &self.encoding, self.reducing().value_sets);
            *cell = left.unwrap_or(*cell);
            left.is_some()
        })
    }

    /// Last writes: the newest-own messages are a suffix of some last writes, and have values that are written there.
    fn admit_own(&self, draft: &mut Draft, process: ProcessId) -> bool {
        let mut word = self.word(&draft.words, process);
        let own: Vec<usize> = (0..word.len()).filter(|&at| word[at].is_newest_own()).collect();
        let Some(last_writes) = &self.sharpening(process).last_writes else { return true };
        let matching = last_writes[draft.words[process.index()] as usize].iter().filter_map(|writes| {
            let suffix = &writes[writes.len().checked_sub(own.len())?..];
            let fits = |(&at, &(x, value)): (&usize, &(LocationId, Values))| {
                word[at].location() == x && word[at].values().covers(value)
            };
            own.iter().zip(suffix).all(fits).then_some(suffix)
        });
        let matching: Vec<_> = matching.collect();
        let Some(first) = matching.first() else { return false };
        let joined = |i: usize| {
            let (x, value) = first[i];
            matching.iter().try_fold(value, |all, suffix| match suffix[i].1 {
                other if other == all => Some(all),
                other if self.encoding.has_sets(x) && self.reducing().value_sets => {
                    Some(self.encoding.join(x, all, other))
                }
                _ => None,
            })
        };
        let known: Vec<_> = (0..own.len()).map(joined).collect();
        let mut is_sharper = false;
        for (&at, values) in own.iter().zip(known) {
            let sharper = values.map_or(word[at], |values| word[at].with_values(values));
            is_sharper |= sharper != word[at];
            word[at] = sharper;
        }
        if is_sharper {
            let buffer = self.buffer(process);
            draft.words[buffer] = self.intern(word);
        }
        true
    }
}
