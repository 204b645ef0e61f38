//! The checks of a basis: nothing bad is outside, nothing initial inside, and no rule leads in.
//!
//! *Closed*: whenever a rule leads from a configuration `d` that keeps the facts to one above an element `c`, `d` is
//! above an element. `d` may be arbitrarily large; but there is a *candidate* `k` below it, close to `c`, for which the
//! same rule leads above `c` too, and it suffices that each candidate, sharpened by the facts, is covered or excluded.
//! Candidates are `c` with a few letters changed; whether the rule leads back is decided by running it ([`forward`]).
//!
//! Lemma, rule by rule, with `w` the load buffer and `σ` the store buffer of x of the acting process in `c`, and `e`
//! and `τ` those in `d` (for the order see [`order`](super::order)):
//!
//! - *nop, fence*: `c`. *Atomic*: `c`, what it writes `*` in memory, then its guards.
//! - *read x,v*: if `d` reads the newest store of `τ` or the newest own(x,·) of `e`, then that of `c` stands for it:
//!   `c` with v there. If `d` reads the oldest message of `e`, that message is a sample, so that it lies before the
//!   image of `w` or is the image of the oldest letter of `w`: `(x,v)·w` or `w`. If `e` is empty, so is `w`: `c` with
//!   v in memory.
//! - *write x,v, pushing*: `e·own(x,v)` is above `w`; the pushed letter is newest-own and newest, so `w = u·own(x,·)`.
//!   All of `u` has its image in `e`. The newest own(x,·) of `e`, if there is one, is newest-own in `e` but not after
//!   the push. Either it is the image of the newest own(x,·) of `u`, and `u` is below `e`; or it is not, and `u` with
//!   own(x,*) inserted somewhere is. Memory: `*` at x. *At once*: `e` and `w` are empty: `c` with `*` at x.
//! - *serialize x*: `τ = v·τ'`, and `τ'` is above `σ`, so `v·σ` is below `τ`. v is what memory holds in `c`, or what
//!   the newest message of `w` says, or any. The load buffer as for a write.
//! - *write x,v to the stage*: `τ·v` is above `σ`, so `σ = ρ·v'`; the newest of `τ` is the image of the newest of `ρ`,
//!   or another: `ρ` or `ρ·*`.
//! - *sample x*: if the new letter is the image of none, `d` is above `c`. Else it is that of the newest letter of `w`:
//!   `w` without it, and its value in memory.
//! - *drop*: a letter that is not newest-own may be dropped anywhere, since what remains is smaller. If the oldest is
//!   newest-own, own(x,·), then `own(x,*)·w` is below `e`.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{LocationId, Placement, ProcessId, Program, Value};
use crate::system::Flow;
use crate::util::{Idx, IndexVec};

use super::Subject;
use super::bad::Targets;
use super::basis::{Basis, Cell, Class, Constraint, Message, MessageKind, ProcessProof};
use super::facts::Facts;
use super::forward::{Rule, Way, forward};
use super::locals::{Letter, Offers};
use super::order::{Covering, Index, covers};
use super::quotient::{Quotient, check_classes, classes};
use super::verify::{Failure, Steps};

/// Checks a basis proof.
pub(super) fn check(
    program: &Program,
    placement: &Placement,
    subject: &Subject,
    basis: &Basis,
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    let (values, foreign) = (&basis.values, &BTreeSet::new());
    let offers = Offers { flow: Flow { program, placement }, buffering: subject.buffering()?, values, foreign };
    check_kept(&offers, &program.processes().indices().collect::<Vec<_>>(), basis, steps)
}

/// Checks a basis proof about some processes.
pub(super) fn check_kept(
    offers: &Offers<'_>,
    kept: &[ProcessId],
    basis: &Basis,
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    let program = offers.flow.program;
    if basis.values.len() != program.locations().len() || basis.processes.len() != kept.len() {
        return Failure::refused("it does not have the locations and processes of the program");
    }
    check_classes(&classes(&basis.processes))?;
    for (i, element) in basis.elements.iter().enumerate() {
        check_form(element, basis.values.len(), &basis.processes.iter().collect::<Vec<_>>())
            .map_err(|it| it.within(&format!("element {}", i + 1)))?;
    }
    let quotient = Quotient::new(offers, kept, &classes(&basis.processes), steps)?;
    let facts = Facts::checked(&quotient, &basis.processes, steps)?;
    let index = Index::new(&basis.elements);
    let is_covered =
        |classes: &[Option<Class>], cells: &[(LocationId, Value)]| is_covered(&facts, &index, classes, cells);
    let (values, is_covered) = (&basis.values, &is_covered);
    Targets { quotient: &quotient, values, leaves_open: false, is_covered, who: kept }.check(offers, steps)?;
    for (i, element) in basis.elements.iter().enumerate() {
        let here = |failure: Failure| failure.within(&format!("element {}", i + 1));
        check_not_initial(&quotient, element).map_err(here)?;
        let closure = Closure { quotient: &quotient, facts: &facts, covering: &index, element };
        closure.check(steps).map_err(here)?;
    }
    Ok(())
}

/// Whether classes with empty buffers and this in memory are covered, or excluded by the facts.
pub(super) fn is_covered(
    facts: &Facts<'_>,
    covering: &dyn Covering,
    classes: &[Option<Class>],
    cells: &[(LocationId, Value)],
) -> bool {
    let mut target = Constraint {
        classes: classes.iter().map(|class| class.expect("no process is left open")).collect(),
        buffers: IndexVec::filled(classes.len(), Vec::new()),
        stores: IndexVec::filled(classes.len(), BTreeMap::new()),
        memory: IndexVec::filled(facts.n_locations(), None),
    };
    cells.iter().for_each(|(x, value)| target.memory[*x] = Some(*value));
    !facts.sharpen(&mut target) || covering.covers(&target)
}

/// An element has as many parts as it should, so that it can be indexed.
pub(super) fn check_form(element: &Constraint, n_locations: usize, proofs: &[&ProcessProof]) -> Result<(), Failure> {
    let n_processes = proofs.len();
    let is_location = |x: &LocationId| x.index() < n_locations;
    let is_whole = |message: &Message| message.kind == MessageKind::Own || message.value.is_some();
    let fits = element.classes.len() == n_processes
        && element.buffers.len() == n_processes
        && element.stores.len() == n_processes
        && element.memory.len() == n_locations
        && element.buffers.iter().flatten().all(|it| is_location(&it.location) && is_whole(it))
        && element.stores.iter().flatten().all(|(x, word)| is_location(x) && !word.is_empty())
        && element.classes.iter().zip(proofs).all(|(class, proof)| (*class as usize) < proof.classes.len());
    if fits { Ok(()) } else { Failure::refused("it does not fit the program") }
}

pub(super) fn check_not_initial(quotient: &Quotient, element: &Constraint) -> Result<(), Failure> {
    let is_at_start = quotient.processes.iter_enumerated().all(|(process, it)| {
        it.initial.contains(&element.classes[process])
            && element.buffers[process].is_empty()
            && element.stores[process].is_empty()
    });
    let mut cells = element.memory.iter_enumerated();
    let is_initial = is_at_start && cells.all(|(x, cell)| cell.is_none_or(|it| quotient.initial[x].contains(&it)));
    if is_initial { Failure::refused("an initial configuration is in it") } else { Ok(()) }
}

/// The check that no rule leads into one element from outside.
pub(super) struct Closure<'a> {
    pub(super) quotient: &'a Quotient,
    pub(super) facts: &'a Facts<'a>,
    pub(super) covering: &'a dyn Covering,
    pub(super) element: &'a Constraint,
}

impl Closure<'_> {
    pub(super) fn check(&self, steps: &mut Steps<'_>) -> Result<(), Failure> {
        let mut candidates = Vec::new();
        for (p, process) in self.quotient.processes.iter_enumerated() {
            let class = self.element.classes[p] as usize;
            for &i in &process.incoming[class] {
                let edge = &process.edges[i];
                for way in [Way::Pushing, Way::AtOnce] {
                    self.of_letter(p, edge.from, &edge.letter, way, &mut candidates);
                    self.check_rule(p, Rule::Edge(edge, way), &mut candidates, steps)?;
                }
            }
            for &x in &process.written {
                self.of_drop(p, x, &mut candidates);
                self.check_rule(p, Rule::Drop, &mut candidates, steps)?;
                for way in [Way::Pushing, Way::AtOnce].into_iter().filter(|_| self.quotient.stage.is_some()) {
                    self.of_serialization(p, x, way, &mut candidates);
                    self.check_rule(p, Rule::Serialize(x, way), &mut candidates, steps)?;
                }
            }
            if let Some(newest) = self.element.buffers[p].last() {
                self.of_sample(p, *newest, &mut candidates);
                self.check_rule(p, Rule::Sample(newest.location), &mut candidates, steps)?;
            }
        }
        Ok(())
    }

    /// Each candidate from which the rule leads above the element is covered, or excluded by the facts.
    fn check_rule(
        &self,
        p: ProcessId,
        rule: Rule<'_>,
        candidates: &mut Vec<Constraint>,
        steps: &mut Steps<'_>,
    ) -> Result<(), Failure> {
        for mut candidate in candidates.drain(..) {
            steps.step(0)?;
            let leads_in = forward(self.quotient, &candidate, p, rule).is_some_and(|to| covers(self.element, &to));
            if leads_in && self.facts.sharpen(&mut candidate) && !self.covering.covers(&candidate) {
                let p = p.index();
                return Failure::refused(format!("process {p} can get into it from outside by {rule}"));
            }
        }
        Ok(())
    }

    fn of_letter(&self, p: ProcessId, from: u32, letter: &Letter, way: Way, out: &mut Vec<Constraint>) {
        let mut before = self.element.clone();
        before.classes[p] = from;
        match letter {
            Letter::Nop | Letter::Fence(_) if way == Way::Pushing => out.push(before),
            Letter::Read(x, value) if way == Way::Pushing => of_read(p, *x, Some(*value), before, out),
            Letter::Write(x, _) if self.quotient.stage.is_none() => {
                before.memory[*x] = None;
                of_write(p, *x, way, before, out);
            }
            Letter::Write(x, _) if way == Way::Pushing => of_staged_write(p, *x, before, out),
            Letter::Atomic(atomic) if way == Way::Pushing => {
                atomic.writes.iter().for_each(|(x, _)| before.memory[*x] = None);
                atomic.guards.iter().for_each(|(x, value)| before.memory[*x] = Some(*value));
                out.push(before);
            }
            // Only what writes to memory through a buffer has two ways.
            Letter::Nop | Letter::Fence(_) | Letter::Read(..) | Letter::Write(..) | Letter::Atomic(_) => {}
        }
    }

    fn of_drop(&self, p: ProcessId, x: LocationId, out: &mut Vec<Constraint>) {
        let mut before = self.element.clone();
        before.buffers[p].insert(0, Message { kind: MessageKind::Own, location: x, value: None });
        out.push(before);
    }

    fn of_serialization(&self, p: ProcessId, x: LocationId, way: Way, out: &mut Vec<Constraint>) {
        let mut values: Vec<Cell> = vec![None, self.element.memory[x]];
        values.extend(self.element.buffers[p].last().map(|newest| newest.value));
        values.sort_unstable();
        values.dedup();
        for value in values {
            let mut before = self.element.clone();
            before.stores[p].entry(x).or_default().insert(0, value);
            before.memory[x] = None;
            of_write(p, x, way, before, out);
        }
    }

    fn of_sample(&self, p: ProcessId, newest: Message, out: &mut Vec<Constraint>) {
        let mut before = self.element.clone();
        before.buffers[p].pop();
        before.memory[newest.location] = newest.value;
        out.push(before);
    }
}

fn of_read(p: ProcessId, x: LocationId, value: Cell, before: Constraint, out: &mut Vec<Constraint>) {
    out.push(before.clone());
    if let Some(newest) = before.stores[p].get(&x).map(|word| word.len() - 1) {
        let mut stored = before.clone();
        stored.stores[p].entry(x).and_modify(|word| word[newest] = value);
        out.push(stored);
    }
    if let Some(newest) = before.buffers[p].iter().rposition(|message| message.is_own_of(x)) {
        let mut own = before.clone();
        own.buffers[p][newest].value = value;
        out.push(own);
    }
    let mut sampled = before.clone();
    sampled.buffers[p].insert(0, Message { kind: MessageKind::Sample, location: x, value });
    out.push(sampled);
    let mut held = before;
    held.memory[x] = value;
    out.push(held);
}

/// The load buffer before a write that reaches memory.
fn of_write(p: ProcessId, x: LocationId, way: Way, mut before: Constraint, out: &mut Vec<Constraint>) {
    if way == Way::AtOnce {
        return out.push(before);
    }
    before.buffers[p].pop();
    for at in 0..=before.buffers[p].len() {
        let mut shadowing = before.clone();
        shadowing.buffers[p].insert(at, Message { kind: MessageKind::Own, location: x, value: None });
        out.push(shadowing);
    }
    out.push(before);
}

/// The store buffer before a write that goes into it.
fn of_staged_write(p: ProcessId, x: LocationId, before: Constraint, out: &mut Vec<Constraint>) {
    let mut word = before.stores[p].get(&x).cloned().unwrap_or_default();
    word.pop();
    let mut hiding = before.clone();
    hiding.stores[p].insert(x, [&word[..], &[None]].concat());
    out.push(hiding);
    let mut plain = before;
    match word.is_empty() {
        true => plain.stores[p].remove(&x),
        false => plain.stores[p].insert(x, word),
    };
    out.push(plain);
}
