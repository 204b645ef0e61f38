//! A proof for release/acquire: an upward-closed set of what threads can still read, closed under going back.
//!
//! An [`Element`] has a class for each process, or any, and for each the lists of messages that it must be able to read
//! one after the other if nobody writes any more. It stands for all configurations of the machine of messages and views
//! in which processes are in these classes and can read these lists. The checks are those of every basis: each bad
//! situation is in an element, no initial configuration is, and whatever a step leads into an element from is in one
//! ([`before`]), unless the facts exclude it ([`facts`]). `docs/certificates.md` has the argument.
//!
//! Such a proof is about strong release/acquire. It is one about release/acquire, too, if two stores that race are
//! among what is bad: without them the two are the same (`docs/theory/potentials.md`). Or it is about weak
//! release/acquire, which allows more than both.

mod before;
mod facts;
mod lists;

use std::collections::{BTreeMap, BTreeSet};

use crate::memory::{Buffering, Messaging, weakened};
use crate::program::{LocationId, Placement, ProcessId, Program, Value};
use crate::system::Flow;
use crate::util::{Idx, IndexVec};

use super::bad::Targets;
use super::basis::Class;
use super::locals::{LocalState, Offers, Values};
use super::quotient::{Classes, Quotient, check_classes};
use super::verify::{Failure, Steps};

use before::{Act, Acting, Edge};
use facts::Facts;
use lists::{Index, is_element_above};

pub use lists::{Element, Letter, List, Message, Which, Writer};

/// Which memory a proof is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Strong release/acquire: a location has a last message, and that alone is updated.
    Strong,
    /// Weak release/acquire: messages have no order but happens-before, and each is updated once.
    Weak,
}

/// A proof that no bad situation can be reached under release/acquire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Potentials {
    /// Which memory it is about.
    pub strength: Strength,
    /// What each location can hold.
    pub values: Values,
    /// The class of each local state of each process.
    pub classes: IndexVec<ProcessId, BTreeMap<LocalState, Class>>,
    /// From these and from nothing else a bad situation can be reached.
    pub elements: Vec<Element>,
}

/// Checks a proof by potentials.
pub(super) fn check(
    program: &Program,
    placement: &Placement,
    messaging: Messaging,
    proof: &Potentials,
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    // What is proved of more is proved.
    let weakened = weakened(program);
    let program = weakened.as_ref().unwrap_or(program);
    let who: Vec<ProcessId> = program.processes().indices().collect();
    check_kept(&offers(Flow { program, placement }, proof, &BTreeSet::new()), &who, messaging, proof, steps)
}

/// Stores that wait in one buffer are letters of their own, and so are full fences: that is all that is taken of it.
pub(super) fn offers<'a>(flow: Flow<'a>, proof: &'a Potentials, foreign: &'a BTreeSet<LocationId>) -> Offers<'a> {
    Offers { flow, buffering: Buffering::Fifo, values: &proof.values, foreign }
}

/// Checks a proof about some processes, against any behavior of the others.
pub(super) fn check_kept(
    offers: &Offers<'_>,
    who: &[ProcessId],
    messaging: Messaging,
    proof: &Potentials,
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    let (program, values) = (offers.flow.program, &proof.values);
    let classes: Classes<'_> = proof.classes.iter().collect();
    check_form(program, who.len(), proof, &classes)?;
    let quotient = Quotient::new(offers, who, &classes, steps)?;
    let acting = Acting::new(program, proof.strength, &quotient)?;
    let facts = Facts::new(&acting, proof.strength, steps)?;
    let index = Index::new(&proof.elements);
    let checking = Checking { strength: proof.strength, acting: &acting, facts: &facts, index: &index };
    let is_covered = |classes: &[Option<Class>], cells: &[(LocationId, Value)]| checking.is_bad_covered(classes, cells);
    let targets = Targets { quotient: &quotient, values, leaves_open: true, is_covered: &is_covered, who };
    targets.check(offers, steps)?;
    match (proof.strength, messaging) {
        (Strength::Weak, _) | (Strength::Strong, Messaging::Appended) => {}
        (Strength::Strong, Messaging::Inserted) => checking.check_races(steps)?,
    }
    for (i, element) in proof.elements.iter().enumerate() {
        let here = |failure: Failure| failure.within(&format!("element {}", i + 1));
        checking.check_not_initial(&quotient, element).map_err(here)?;
        checking.check_closed(element, steps).map_err(here)?;
    }
    Ok(())
}

/// Everything has as many parts as the program, so that it can be indexed.
fn check_form(program: &Program, n_processes: usize, proof: &Potentials, classes: &Classes<'_>) -> Result<(), Failure> {
    let n_locations = program.locations().len();
    if proof.values.len() != n_locations || proof.classes.len() != n_processes {
        return Failure::refused("it does not have the locations and processes of the program");
    }
    check_classes(classes)?;
    for (i, element) in proof.elements.iter().enumerate() {
        let is_class = |(process, class): (ProcessId, &Option<Class>)| {
            class.is_none_or(|class| (class as usize) < classes[process].len())
        };
        let is_known = |letter: &Letter| is_known(letter, proof.strength, (n_locations, n_processes));
        let fits = element.classes.len() == n_processes
            && element.lists.len() == n_processes + 1
            && element.classes.iter_enumerated().all(is_class)
            && element.letters().all(is_known);
        if !fits {
            return Failure::refused(format!("element {} does not fit the program", i + 1));
        }
        if element.classes.iter().zip(&element.lists).any(|(class, lists)| class.is_none() && !lists.is_empty()) {
            return Failure::refused(format!("element {} asks something of a process that may be anywhere", i + 1));
        }
    }
    Ok(())
}

/// Whether a letter is about the program, and about the memory of the proof.
fn is_known(letter: &Letter, strength: Strength, (n_locations, n_processes): (usize, usize)) -> bool {
    let message = match letter {
        Letter::Message(message) => message,
        Letter::Marker(place) => return strength == Strength::Weak && *place as usize <= n_locations,
    };
    let is_named = match message.writer {
        Writer::Start => true,
        Writer::Process(process) => process.index() < n_processes,
        // What is not named is one message only if it is the last.
        Writer::Any => message.which == Which::Last,
    };
    let is_there = match message.which {
        Which::Any => true,
        Which::Last => strength == Strength::Strong,
        Which::UpdatedBy(process) => strength == Strength::Weak && process.index() < n_processes,
    };
    message.place as usize <= n_locations && is_named && is_there
}

/// What the checks need to know.
struct Checking<'a> {
    strength: Strength,
    acting: &'a Acting,
    facts: &'a Facts,
    index: &'a Index<'a>,
}

impl Checking<'_> {
    /// Whether there is an element below, or the facts exclude it.
    fn is_covered(&self, element: &Element) -> bool {
        self.index.covers(element) || !self.facts.admit(element)
    }

    /// Whether processes in these classes are covered with these last messages, whoever wrote them. A last message can
    /// be read by everybody, so that it does not matter who is to read it. Where there are no last messages, memory may
    /// hold anything.
    fn is_bad_covered(&self, classes: &[Option<Class>], cells: &[(LocationId, Value)]) -> bool {
        let mut lists: Vec<List> = vec![List::new()];
        let cells = if self.strength == Strength::Strong { cells } else { &[] };
        for &(x, value) in cells {
            let place = x.index() as u32;
            let writers = self.acting.writers(place, value);
            let with = |list: &List| -> Vec<List> {
                let letter = |&writer: &Writer| Letter::Message(Message { writer, place, value, which: Which::Last });
                writers.iter().map(|writer| [&list[..], &[letter(writer)]].concat()).collect()
            };
            lists = lists.iter().flat_map(with).collect();
        }
        let readers: Vec<usize> =
            (0..=classes.len()).filter(|&it| classes.get(it).is_none_or(Option::is_some)).collect();
        lists.iter().all(|list| {
            readers.iter().any(|&reader| {
                let mut element =
                    Element { classes: classes.iter().copied().collect(), lists: vec![Vec::new(); classes.len() + 1] };
                if !list.is_empty() {
                    element.lists[reader].push(list.clone());
                }
                self.is_covered(&element)
            })
        })
    }

    /// Two processes before stores to one location, of which one only writes, are covered: stores that race.
    fn check_races(&self, steps: &mut Steps<'_>) -> Result<(), Failure> {
        let stores = |process: ProcessId| {
            self.acting.edges[process].iter().filter_map(|edge| match edge.act {
                Act::Write(x, _) => Some((x, None, edge.from)),
                Act::Update(x, old, _) if x < self.acting.fence => Some((x, Some(old), edge.from)),
                Act::Local | Act::Read(..) | Act::Find(..) | Act::Update(..) => None,
            })
        };
        for one in self.acting.edges.indices() {
            for other in self.acting.edges.indices().filter(|&other| other != one) {
                // Where all stores are seq_cst they come into their order as they happen.
                let writes = |store: &(u32, Option<Value>, Class)| {
                    store.1.is_none() && !self.acting.is_ordered[store.0 as usize]
                };
                for (x, _, from) in stores(one).filter(writes) {
                    for (_, found, behind) in stores(other).filter(|store| store.0 == x) {
                        steps.step(0)?;
                        let mut classes = vec![None; self.acting.edges.len()];
                        (classes[one.index()], classes[other.index()]) = (Some(from), Some(behind));
                        let cells = found.map(|value| (LocationId::from_usize(x as usize), value));
                        if !self.is_bad_covered(&classes, cells.as_slice()) {
                            let (one, other) = (one.index(), other.index());
                            return Failure::refused(format!("stores of processes {one} and {other} may race"));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn check_not_initial(&self, quotient: &Quotient, element: &Element) -> Result<(), Failure> {
        let mut classes = element.classes.iter_enumerated();
        let is_at_start =
            classes.all(|(process, class)| class.is_none_or(|it| quotient.processes[process].initial.contains(&it)));
        let may_be_first = |letter: &Message| match letter.writer {
            Writer::Start | Writer::Any => self.acting.is_initial(letter.place, letter.value),
            Writer::Process(_) => false,
        };
        // Where a location may start with several values, one is there.
        let mut values = BTreeMap::new();
        let is_one = |letter: &Message| *values.entry(letter.place).or_insert(letter.value) == letter.value;
        match is_at_start && element.messages().all(may_be_first) && element.messages().all(is_one) {
            true => Failure::refused("an initial configuration is in it"),
            false => Ok(()),
        }
    }

    /// Whatever a step leads into an element from is covered.
    fn check_closed(&self, element: &Element, steps: &mut Steps<'_>) -> Result<(), Failure> {
        let mut candidates = Vec::new();
        for (process, edges) in self.acting.edges.iter_enumerated() {
            // What is not written changes nothing for a process that may be anywhere.
            let leads_here = |edge: &&Edge| match (element.classes[process], edge.act) {
                (Some(class), _) => class == edge.to,
                (None, Act::Write(..) | Act::Update(..)) => true,
                (None, Act::Local | Act::Read(..) | Act::Find(..)) => false,
            };
            for edge in edges.iter().filter(leads_here) {
                self.acting.before(element, process, edge, steps, &mut candidates)?;
                for mut candidate in candidates.drain(..) {
                    steps.step(0)?;
                    candidate.classes[process] = Some(edge.from);
                    if !is_element_above(&candidate, element) && !self.is_covered(&candidate) {
                        let (process, act) = (process.index(), edge.act);
                        return Failure::refused(format!("process {process} can get into it from outside by {act}"));
                    }
                }
            }
        }
        Ok(())
    }
}
