//! Steps of somebody who is not named in an element, and change what it asks of memory.
//!
//! | rule | load buffer | store buffers (PSO) |
//! |---|---|---|
//! | write `x,v` at once (TSO) | empty | – |
//! | atomic | empty | of locations that it waits for, empty; of others, empty or one store of any value |
//! | a store of `v` to `x` leaves | empty | of `x`, `v` alone or in front of one more; of others, empty or one store |
//!
//! Every store buffer is above one of these: an empty one above the empty one, any other above its newest store, and
//! one whose oldest store is `v` above `v`, or above `v` and its newest store.

use std::collections::BTreeMap;

use crate::program::{LocationId, ProcessId};
use crate::util::Idx;

use super::super::basis::{Cell, Class, Constraint};
use super::super::facts::Facts;
use super::super::forward::{Rule, Way, forward};
use super::super::locals::Letter;
use super::super::order::{Covering, may_stand_for};
use super::super::quotient::{Edge, Quotient};
use super::super::verify::{Failure, Steps};

/// Store buffers that are not empty.
type Stores = BTreeMap<LocationId, Vec<Cell>>;

/// More locations of which stores may be pending are not gone through.
const MAX_GUESSED: usize = 16;

/// An element, and one member more, which comes last.
pub(super) struct Newcomer<'a> {
    pub(super) quotient: &'a Quotient,
    pub(super) facts: &'a Facts<'a>,
    pub(super) covering: &'a dyn Covering,
    pub(super) element: &'a Constraint,
    pub(super) place: ProcessId,
}

impl Newcomer<'_> {
    /// No step of the newcomer leads into the element from outside.
    pub(super) fn check(&self, steps: &mut Steps<'_>) -> Result<(), Failure> {
        for edge in &self.quotient.processes[self.place].edges {
            self.check_edge(edge, steps)?;
        }
        if self.quotient.stage.is_some() {
            let n_classes = self.quotient.processes[self.place].incoming.len();
            (0..n_classes).try_for_each(|class| self.check_serialization(class as Class, steps))?;
        }
        Ok(())
    }

    /// Whether a location matters to the element.
    fn asks(&self, x: LocationId) -> bool {
        self.element.memory[x].is_some()
    }

    fn check_edge(&self, edge: &Edge, steps: &mut Steps<'_>) -> Result<(), Failure> {
        let written = edge.letter.writes();
        if !written.iter().any(|it| self.asks(it.0)) {
            return Ok(());
        }
        let mut before = self.with(edge.from);
        written.iter().for_each(|(x, _)| before.memory[*x] = None);
        match &edge.letter {
            Letter::Write(..) if self.quotient.stage.is_none() => {
                self.check_candidate(before, Rule::Edge(edge, Way::AtOnce), steps)
            }
            Letter::Atomic(atomic) => {
                atomic.guards.iter().for_each(|(x, value)| before.memory[*x] = Some(*value));
                let is_left = |x: LocationId| self.quotient.stage.is_some() && !self.quotient.waits_for(atomic, x);
                for stores in self.guesses(is_left)? {
                    let mut before = before.clone();
                    before.stores[self.place] = stores;
                    self.check_candidate(before, Rule::Edge(edge, Way::Pushing), steps)?;
                }
                Ok(())
            }
            // A write into the store buffer leaves memory alone.
            Letter::Write(..) | Letter::Nop | Letter::Read(..) | Letter::Fence(_) => Ok(()),
        }
    }

    fn check_serialization(&self, class: Class, steps: &mut Steps<'_>) -> Result<(), Failure> {
        for &x in self.quotient.processes[self.place].written.iter().filter(|&&x| self.asks(x)) {
            let value = self.element.memory[x];
            for stores in self.guesses(|y| y != x)? {
                for word in [vec![value], vec![value, None]] {
                    let mut before = self.with(class);
                    before.memory[x] = None;
                    before.stores[self.place].clone_from(&stores);
                    before.stores[self.place].insert(x, word);
                    self.check_candidate(before, Rule::Serialize(x, Way::AtOnce), steps)?;
                }
            }
        }
        Ok(())
    }

    /// The element with a newcomer in a class, whose buffers are empty.
    fn with(&self, class: Class) -> Constraint {
        let mut with = self.element.clone();
        with.classes.push(class);
        with.buffers.push(Vec::new());
        with.stores.push(Stores::new());
        with
    }

    /// What may be pending of some locations.
    fn guesses(&self, is_guessed: impl Fn(LocationId) -> bool) -> Result<Vec<Stores>, Failure> {
        let written = self.quotient.processes[self.place].written.iter().copied();
        let guessed: Vec<LocationId> = written.filter(|&x| is_guessed(x)).collect();
        if guessed.len() > MAX_GUESSED {
            return Failure::refused("stores to too many locations may be pending");
        }
        let mut all = vec![Stores::new()];
        for x in guessed {
            let mut more = all.clone();
            more.iter_mut().for_each(|stores| drop(stores.insert(x, vec![None])));
            all.extend(more);
        }
        Ok(all)
    }

    /// If the rule leads above the element, the candidate is covered, or excluded by the facts.
    fn check_candidate(&self, mut before: Constraint, rule: Rule<'_>, steps: &mut Steps<'_>) -> Result<(), Failure> {
        steps.step(0)?;
        let leads_in = forward(self.quotient, &before, self.place, rule).is_some_and(|to| {
            let mut memory = self.element.memory.iter().zip(&to.memory);
            memory.all(|(asked, held)| may_stand_for(*asked, *held))
        });
        if leads_in && self.facts.sharpen(&mut before) && !self.covering.covers(&before) {
            let class = before.classes[self.place];
            let n_members = self.place.index();
            return Failure::refused(format!(
                "somebody beside its {n_members} members, in class {class}, leads into it from outside by {rule}"
            ));
        }
        Ok(())
    }
}
