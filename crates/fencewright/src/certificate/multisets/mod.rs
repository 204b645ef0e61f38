//! The proof for any number of threads: a basis of multisets.
//!
//! A configuration is memory and a multiset of members, each of a *kind*: a thread of which there is any number, or one
//! that is listed, of which there is one. An element of the basis has some members, and stands for all configurations
//! in which different members are above them; who else there is, is left open.
//!
//! The checks are those of a basis ([`closed`](super::closed)), with the members of an element in the places of
//! processes, and one more, of *newcomers*. Let a rule lead from `d` to a configuration above an element `c`, by a
//! member `m` of `d` that none of `c` stands for. If what `c` asks of memory does not change, `d` is above `c`. Else
//! the rule writes; it is a write, an atomic step, or a store that leaves its buffer. Let `d'` be `d` with the load
//! buffer of `m` empty. The rule leads from `d'` above `c` too, and `d'` is above a candidate: `c` with a member more,
//! whose load buffer is empty and whose store buffers are the least of their kind ([`newcomer`]), and with anything in
//! memory where it writes. So `d'` is in the set. Now put the load buffer of `m` back, its newest letter first. A
//! sample, or an own message that is not the newest of its location, makes a larger configuration; any other own
//! message could be dropped again, and the set is closed under drops *in every class*. What is put back keeps the
//! facts, if `d` does: the class may lag, and a suffix of the newest-own messages is a suffix of the last writes. So
//! `d` is in the set.
//!
//! Single-writer facts are for kinds of which there is one.

mod index;
mod kinds;
mod newcomer;

use std::collections::BTreeSet;

use crate::program::{LocationId, Placement, ProcessId, Program, Property, PropertyKind, Situation, StateVar, Value};
use crate::system::Flow;
use crate::util::{Idx, IndexVec};

use super::Subject;
use super::bad::Targets;
use super::basis::{Class, Constraint, ProcessProof};
use super::closed::{Closure, check_form, check_not_initial, is_covered};
use super::facts::Facts;
use super::locals::{Offers, Values};
use super::quotient::{Quotient, check_classes, classes};
use super::verify::{Failure, Steps};

use index::{Among, Index};
use kinds::Kinds;
use newcomer::Newcomer;

pub use kinds::representatives;

/// A proof that no bad situation can be reached, whatever the number of copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multisets {
    /// What each location can hold.
    pub values: Values,
    /// The kinds: each thread of which there is any number, as its first copy in the list of processes, and all others.
    pub kinds: IndexVec<ProcessId, ProcessProof>,
    /// From these and from nothing else a bad situation can be reached.
    pub elements: Vec<Gathering>,
}

/// An element: members, and what there is of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gathering {
    /// The kind of each member, counted as the kinds are.
    pub kinds: IndexVec<ProcessId, ProcessId>,
    /// The members in the places of processes.
    pub members: Constraint,
}

/// Checks a proof for any number of threads.
pub(super) fn check(
    program: &Program,
    placement: &Placement,
    subject: &Subject,
    proof: &Multisets,
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    let kinds = Kinds::new(program, placement)?;
    check_parts(&kinds, program, proof)?;
    let (values, foreign) = (&proof.values, &BTreeSet::new());
    let offers = Offers { flow: Flow { program, placement }, buffering: subject.buffering()?, values, foreign };
    let mut quotient = Quotient::new(&offers, &kinds.first, &classes(&proof.kinds), steps)?;
    quotient.drops_anywhere = true;
    let facts = Facts::checked(&quotient, &proof.kinds, steps)?;
    let index = Index::new(&proof.elements);
    let checking = Checking { kinds: &kinds, proof, quotient: &quotient, facts: &facts, index: &index };
    checking.check_bad(program, steps)?;
    for (i, element) in proof.elements.iter().enumerate() {
        checking.check_element(element, steps).map_err(|it| it.within(&format!("element {}", i + 1)))?;
    }
    Ok(())
}

fn check_parts(kinds: &Kinds, program: &Program, proof: &Multisets) -> Result<(), Failure> {
    if proof.values.len() != program.locations().len() || proof.kinds.len() != kinds.first.len() {
        return Failure::refused("it does not have the locations and threads of the program");
    }
    check_classes(&classes(&proof.kinds))?;
    for (kind, it) in proof.kinds.iter_enumerated() {
        if kinds.is_open[kind.index()] && !it.sole.is_empty() {
            return Failure::refused("copies of a thread are not the only writers of a location");
        }
    }
    for (i, element) in proof.elements.iter().enumerate() {
        let is_twice = |(place, kind): (ProcessId, &ProcessId)| {
            !kinds.is_open[kind.index()] && element.kinds.iter().take(place.index()).any(|other| other == kind)
        };
        let here = |failure: Failure| failure.within(&format!("element {}", i + 1));
        if element.kinds.iter().any(|kind| kind.index() >= proof.kinds.len()) {
            return Failure::refused("it has a member of no kind").map_err(here);
        }
        if element.kinds.iter_enumerated().any(is_twice) {
            return Failure::refused("it has two members of a kind of which there is one").map_err(here);
        }
        let proofs: Vec<&ProcessProof> = element.kinds.iter().map(|&kind| &proof.kinds[kind]).collect();
        check_form(&element.members, proof.values.len(), &proofs).map_err(here)?;
    }
    Ok(())
}

/// What is checked.
struct Checking<'a> {
    kinds: &'a Kinds,
    proof: &'a Multisets,
    quotient: &'a Quotient,
    facts: &'a Facts<'a>,
    index: &'a Index<'a>,
}

impl Checking<'_> {
    /// Every bad situation is covered.
    fn check_bad(&self, program: &Program, steps: &mut Steps<'_>) -> Result<(), Failure> {
        for (id, property) in program.properties().iter_enumerated() {
            for situation in &property.situations {
                let what = format!("property {}", id.index());
                self.check_situation(program, property, situation, steps).map_err(|it| it.within(&what))?;
            }
        }
        for kind in self.quotient.processes.indices() {
            self.with_targets(&[kind], &[self.kinds.first[kind.index()]], |targets| {
                targets.check_broken(Idx::from_usize(0), steps)
            })?;
        }
        Ok(())
    }

    fn check_situation(
        &self,
        program: &Program,
        property: &Property,
        situation: &Situation,
        steps: &mut Steps<'_>,
    ) -> Result<(), Failure> {
        match property.kind {
            PropertyKind::Control | PropertyKind::Final => {}
            PropertyKind::Invariant
            | PropertyKind::Hang
            | PropertyKind::Race
            | PropertyKind::Robust
            | PropertyKind::Trace => {
                return Failure::refused("multisets show where threads do not get, and what they do not end with");
            }
        }
        let mut who: BTreeSet<ProcessId> = situation.at.iter().map(|it| it.0).collect();
        situation.condition.for_each_var(&mut |variable| match variable {
            StateVar::Register(process, _) => drop(who.insert(*process)),
            StateVar::Memory(_) => {}
        });
        let who: Vec<ProcessId> = who.into_iter().collect();
        let kinds: Vec<ProcessId> = who.iter().map(|&process| self.kinds.of[process]).collect();
        let situation = self.kinds.of_first(program, situation);
        self.with_targets(&kinds, &who, |targets| targets.check_situation(&situation, steps))
    }

    /// Members of some kinds, named like these processes.
    fn with_targets<T>(&self, kinds: &[ProcessId], who: &[ProcessId], check: impl FnOnce(&Targets<'_>) -> T) -> T {
        let places: IndexVec<ProcessId, ProcessId> = kinds.iter().copied().collect();
        let quotient = self.quotient.with_places(kinds.iter().copied());
        let facts = self.facts.with_places(&quotient, kinds.iter().copied());
        let covering = Among { index: self.index, kinds: &places };
        let is_covered =
            |classes: &[Option<Class>], cells: &[(LocationId, Value)]| is_covered(&facts, &covering, classes, cells);
        let (values, is_covered) = (&self.proof.values, &is_covered);
        check(&Targets { quotient: &quotient, values, leaves_open: false, is_covered, who })
    }

    /// Nothing initial is in an element, and no rule leads into it, neither of its members nor of anybody else.
    fn check_element(&self, element: &Gathering, steps: &mut Steps<'_>) -> Result<(), Failure> {
        let places = || element.kinds.iter().copied();
        let quotient = self.quotient.with_places(places());
        check_not_initial(&quotient, &element.members)?;
        let facts = self.facts.with_places(&quotient, places());
        let covering = Among { index: self.index, kinds: &element.kinds };
        let closure = Closure { quotient: &quotient, facts: &facts, covering: &covering, element: &element.members };
        closure.check(steps)?;
        for kind in self.quotient.processes.indices() {
            if !self.kinds.is_open[kind.index()] && places().any(|it| it == kind) {
                continue;
            }
            let kinds: IndexVec<ProcessId, ProcessId> = places().chain([kind]).collect();
            let quotient = self.quotient.with_places(kinds.iter().copied());
            let facts = self.facts.with_places(&quotient, kinds.iter().copied());
            let covering = Among { index: self.index, kinds: &kinds };
            let newcomer = Newcomer {
                quotient: &quotient,
                facts: &facts,
                covering: &covering,
                element: &element.members,
                place: element.kinds.next_index(),
            };
            newcomer.check(steps)?;
        }
        Ok(())
    }
}
