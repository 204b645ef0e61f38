//! The facts of a proof: that they hold, and what they exclude.
//!
//! | fact | says | kept by |
//! |---|---|---|
//! | lag region | a load buffer is empty outside of some classes | runs in normal form (`docs/certificates.md`) |
//! | last writes (TSO) | the newest-own messages are a suffix of some last writes | each edge, in one step |
//! | pending stores (PSO) | a store buffer holds some values, and its newest is one of some | each edge, in one step |
//! | single writer | memory that one process writes holds some values, if no store to it is pending | its edges |
//!
//! If a configuration violates one of them, so does every larger one: newest-own messages, memory, the newest store and
//! emptiness of store buffers are the same in both, and the larger one has all letters of the smaller one.

use std::collections::BTreeSet;

use crate::program::{FenceKind, LocationId, ProcessId, Value};
use crate::util::{Idx, IndexVec};

use super::basis::{Cell, Class, Constraint, LastWrites, ProcessProof, Waiting};
use super::locals::Letter;
use super::order::is_newest_own;
use super::quotient::{Edge, Quotient, drains};
use super::verify::{Failure, Steps};

/// The facts, once checked.
pub(super) struct Facts<'a> {
    quotient: &'a Quotient,
    /// By the places of constraints.
    proofs: IndexVec<ProcessId, &'a ProcessProof>,
}

impl<'a> Facts<'a> {
    /// Checks that the facts hold at the start and that each edge keeps them.
    pub(super) fn checked(
        quotient: &'a Quotient,
        proofs: &'a IndexVec<ProcessId, ProcessProof>,
        steps: &mut Steps<'_>,
    ) -> Result<Self, Failure> {
        let facts = Self { quotient, proofs: proofs.iter().collect() };
        for (process, proof) in proofs.iter_enumerated() {
            facts.check_start(process, proof)?;
            for edge in &quotient.processes[process].edges {
                steps.step(0)?;
                facts.check_edge(proof, edge).map_err(|it| {
                    let Edge { from, to, letter } = edge;
                    it.within(&format!("process {}, class {from} to {to} by {letter}", process.index()))
                })?;
            }
        }
        Ok(facts)
    }

    /// The same facts with these processes in the places of constraints.
    pub(super) fn with_places<'b>(
        &self,
        quotient: &'b Quotient,
        places: impl IntoIterator<Item = ProcessId>,
    ) -> Facts<'b>
    where
        'a: 'b,
    {
        Facts { quotient, proofs: places.into_iter().map(|it| self.proofs[it]).collect() }
    }

    /// How many locations there are.
    pub(super) fn n_locations(&self) -> usize {
        self.quotient.initial.len()
    }

    fn check_start(&self, process: ProcessId, proof: &ProcessProof) -> Result<(), Failure> {
        if self.quotient.stage.is_some() && proof.last_writes.is_some() {
            return Failure::refused("last writes say nothing where stores to several locations overtake each other");
        }
        for class in &self.quotient.processes[process].initial {
            if proof.last_writes.as_ref().is_some_and(|all| all.get(class).is_none_or(BTreeSet::is_empty)) {
                return Failure::refused(format!("last writes of process {} lack its start", process.index()));
            }
        }
        for (x, held) in &proof.sole {
            self.check_sole(process, *x)?;
            let starts = &self.quotient.initial[*x];
            for class in &self.quotient.processes[process].initial {
                if !held.get(class).is_some_and(|held| starts.is_subset(held)) {
                    return Failure::refused(format!("what location {} holds lacks its start", x.index()));
                }
            }
        }
        Ok(())
    }

    /// Nobody else writes the location.
    fn check_sole(&self, process: ProcessId, x: LocationId) -> Result<(), Failure> {
        if x.index() >= self.quotient.initial.len() {
            return Failure::refused(format!("there is no location {}", x.index()));
        }
        let others = self.quotient.processes.iter_enumerated().filter(|(other, _)| *other != process);
        let mut edges = others.flat_map(|(_, other)| &other.edges);
        match edges.any(|edge| edge.letter.writes().iter().any(|write| write.0 == x)) {
            true => Failure::refused(format!("location {} has another writer than {}", x.index(), process.index())),
            false => Ok(()),
        }
    }

    fn check_edge(&self, proof: &ProcessProof, edge: &Edge) -> Result<(), Failure> {
        if let Some(all) = &proof.last_writes {
            let none = BTreeSet::new();
            let (before, after) = (all.get(&edge.from).unwrap_or(&none), all.get(&edge.to).unwrap_or(&none));
            if !before.iter().all(|writes| keeps_last_writes(writes, &edge.letter, after)) {
                return Failure::refused("last writes are not kept");
            }
        }
        if let Some(pending) = &proof.pending {
            for x in self.quotient.initial.indices() {
                let none = Waiting::default();
                let at = |class: Class| pending.get(&(class, x)).unwrap_or(&none);
                if !self.keeps_pending(at(edge.from), &edge.letter, x, at(edge.to)) {
                    return Failure::refused(format!("what is pending of location {} is not kept", x.index()));
                }
            }
        }
        for (x, held) in &proof.sole {
            let none = BTreeSet::new();
            let (before, after) = (held.get(&edge.from).unwrap_or(&none), held.get(&edge.to).unwrap_or(&none));
            let is_kept = match edge.letter.writes().iter().find(|write| write.0 == *x) {
                Some((_, value)) => after.contains(value),
                None => before.is_subset(after),
            };
            if !is_kept {
                return Failure::refused(format!("what location {} holds is not kept", x.index()));
            }
        }
        Ok(())
    }

    fn keeps_pending(&self, before: &Waiting, letter: &Letter, x: LocationId, after: &Waiting) -> bool {
        match letter {
            Letter::Write(y, value) if *y == x => {
                before.any.is_subset(&after.any) && after.any.contains(value) && after.newest.contains(value)
            }
            Letter::Fence(FenceKind::Full | FenceKind::StoreStore) => true,
            Letter::Atomic(atomic) if self.quotient.waits_for(atomic, x) => true,
            Letter::Atomic(_) | Letter::Write(..) | Letter::Nop | Letter::Read(..) => {
                before.any.is_subset(&after.any) && before.newest.is_subset(&after.newest)
            }
        }
    }

    /// Replaces each `*` that can be but one value by that value; `false` if the facts exclude all configurations.
    pub(super) fn sharpen(&self, constraint: &mut Constraint) -> bool {
        self.proofs.iter_enumerated().all(|(process, proof)| {
            self.may_lag(constraint, process)
                && sharpen_memory(constraint, process, proof)
                && sharpen_own(constraint, process, proof)
                && sharpen_stores(constraint, process, proof)
        })
    }

    /// Lag region.
    fn may_lag(&self, constraint: &Constraint, process: ProcessId) -> bool {
        let class = constraint.classes[process] as usize;
        constraint.buffers[process].is_empty() || self.quotient.processes[process].may_lag[class]
    }
}

fn keeps_last_writes(writes: &LastWrites, letter: &Letter, after: &BTreeSet<LastWrites>) -> bool {
    match letter {
        Letter::Write(x, value) => {
            let mut next: LastWrites = writes.iter().copied().filter(|(y, _)| y != x).collect();
            next.push((*x, *value));
            after.contains(&next)
        }
        // The buffer is empty, and so is a suffix of whatever is there.
        letter if drains(letter) => !after.is_empty(),
        Letter::Nop | Letter::Read(..) | Letter::Fence(_) | Letter::Atomic(_) => after.contains(writes),
    }
}

/// Single writer.
fn sharpen_memory(constraint: &mut Constraint, process: ProcessId, proof: &ProcessProof) -> bool {
    proof.sole.iter().all(|(x, held)| {
        let class = constraint.classes[process];
        constraint.stores[process].contains_key(x)
            || held.get(&class).is_some_and(|held| sharpen(&mut constraint.memory[*x], held))
    })
}

/// Last writes.
fn sharpen_own(constraint: &mut Constraint, process: ProcessId, proof: &ProcessProof) -> bool {
    let Some(last_writes) = &proof.last_writes else { return true };
    let word = &mut constraint.buffers[process];
    let own: Vec<usize> = (0..word.len()).filter(|&i| is_newest_own(word, i)).collect();
    if own.is_empty() {
        return true;
    }
    let Some(possible) = last_writes.get(&constraint.classes[process]) else { return false };
    let suffixes = possible.iter().filter_map(|writes| writes.len().checked_sub(own.len()).map(|at| &writes[at..]));
    let fits = |suffix: &&[(LocationId, Value)]| {
        let mut pairs = own.iter().zip(*suffix);
        pairs.all(|(&i, (x, value))| word[i].location == *x && word[i].value.is_none_or(|it| it == *value))
    };
    let fitting: Vec<_> = suffixes.filter(fits).collect();
    for (place, &i) in own.iter().enumerate() {
        let values: BTreeSet<Value> = fitting.iter().map(|suffix| suffix[place].1).collect();
        if !sharpen(&mut word[i].value, &values) {
            return false;
        }
    }
    true
}

/// Pending stores.
fn sharpen_stores(constraint: &mut Constraint, process: ProcessId, proof: &ProcessProof) -> bool {
    let Some(pending) = &proof.pending else { return true };
    let class = constraint.classes[process];
    constraint.stores[process].iter_mut().all(|(x, word)| {
        let Some(possible) = pending.get(&(class, *x)) else { return false };
        let newest = word.len() - 1;
        let mut letters = word.iter_mut().enumerate();
        letters.all(|(i, letter)| sharpen(letter, if i == newest { &possible.newest } else { &possible.any }))
    })
}

/// Replaces `*` by the only possible value; `false` if the value is not possible.
fn sharpen(cell: &mut Cell, possible: &BTreeSet<Value>) -> bool {
    match cell {
        Some(value) => possible.contains(value),
        None => {
            if possible.len() == 1 {
                *cell = possible.first().copied();
            }
            !possible.is_empty()
        }
    }
}
