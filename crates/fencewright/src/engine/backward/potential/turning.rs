//! One constraint for all that differ only in which of some interchangeable threads is which: threads are renamed in
//! the letters, too.
//!
//! Of all constraints that renamings lead to, the least stands for the others: states first, then lists, compared by
//! their letters, since the numbers of lists depend on which thread of the search comes first.

use std::cmp::Ordering;

use super::constraint::{ABSENT, Constraint, sets, states};
use super::kinds::{KindId, Kinds, Writer, claim_of, kind_of, plain};
use super::lists::{Lists, SetId};
use super::system::Rule;
use crate::engine::automaton::{LetterEdge, RegisterFree};
use crate::engine::backward::symmetry::Renaming;
use crate::program::{LocationId, ProcessId};
use crate::util::Idx;

/// A renaming, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn(u16);

/// The renamings of a program.
#[derive(Debug)]
pub(super) struct Turning {
    /// All but the one that changes nothing, each with where kinds go.
    renamings: Vec<(Renaming, Vec<KindId>)>,
}

impl Turning {
    /// Renamings that are closed under composition; the first, if there is one, changes nothing.
    pub(super) fn new(renamings: &[Renaming], kinds: &Kinds, program: &RegisterFree) -> Self {
        let with_kinds = |it: &Renaming| Some((it.clone(), renamed_kinds(it, kinds, program)?));
        Self { renamings: renamings.iter().skip(1).filter_map(with_kinds).collect() }
    }

    /// The least constraint that renamings lead to, and which one did.
    pub(super) fn turn(&self, constraint: Constraint, lists: &Lists) -> (Turn, Constraint) {
        let mut least = (Turn(0), constraint);
        if self.renamings.is_empty() {
            return least;
        }
        let original = least.1.clone();
        for (number, (renaming, kinds)) in (1..).zip(&self.renamings) {
            let image = renamed_states(renaming, states(&original));
            match image[..].cmp(states(&least.1)) {
                Ordering::Greater => continue,
                Ordering::Less | Ordering::Equal => {}
            }
            let sets = renamed_sets(renaming, kinds, sets(&original), lists);
            let image: Constraint = image.into_iter().chain(sets).collect();
            if compared(&image, &least.1, lists) == Ordering::Less {
                least = (Turn(number), image);
            }
        }
        least
    }

    /// All constraints that renamings lead to, each once.
    pub(super) fn images(&self, constraint: &Constraint, lists: &Lists) -> Vec<Constraint> {
        let mut all = vec![constraint.clone()];
        for (renaming, kinds) in &self.renamings {
            let states = renamed_states(renaming, states(constraint));
            let sets = renamed_sets(renaming, kinds, sets(constraint), lists);
            let image: Constraint = states.into_iter().chain(sets).collect();
            if !all.contains(&image) {
                all.push(image);
            }
        }
        all
    }

    /// The rules of a path as those of one run, which starts where the path does.
    ///
    /// A rule is told in the names of its successor; what it starts from was renamed after it had been found. Going
    /// along the path, all renamings so far are applied.
    pub(super) fn straightened(&self, rules: &[Rule], program: &RegisterFree) -> Vec<Rule> {
        let mut frame: Option<(Renaming, Vec<KindId>)> = None;
        let straightened = rules.iter().map(|rule| {
            if let Some(at) = usize::from(rule.turn.0).checked_sub(1) {
                let renamed = &self.renamings[at];
                frame = Some(match &frame {
                    None => renamed.clone(),
                    Some((further, kinds)) => {
                        let kinds = renamed.1.iter().map(|&kind| kinds[kind as usize]).collect();
                        (renamed.0.then(further), kinds)
                    }
                });
            }
            frame.as_ref().map_or(*rule, |(renaming, kinds)| renamed_rule(rule, renaming, kinds, program))
        });
        straightened.collect()
    }
}

fn renamed_rule(rule: &Rule, renaming: &Renaming, kinds: &[KindId], program: &RegisterFree) -> Rule {
    let process = renaming.processes[rule.process];
    let states = &renaming.states[rule.process];
    let edge = &program.processes[rule.process].edges[rule.edge as usize];
    let letter = renaming.letter(&edge.letter);
    let is_image = |candidate: &LetterEdge| {
        candidate.from == states[edge.from as usize]
            && candidate.to == states[edge.to as usize]
            && candidate.letter.clone().ordered() == letter
    };
    let image = program.processes[process].edges.iter().position(is_image);
    let edge = image.expect("a renaming maps edges to edges") as u32;
    Rule { process, edge, source: rule.source.map(|kind| kinds[kind as usize]), ..*rule }
}

/// Where kinds go; nothing if one goes where no kind is.
fn renamed_kinds(renaming: &Renaming, kinds: &Kinds, program: &RegisterFree) -> Option<Vec<KindId>> {
    let renamed = |kind: KindId| {
        let kind = kinds.get(kind);
        let writer = match kind.writer {
            Writer::Thread(process) => Writer::Thread(renaming.processes[process]),
            Writer::Nobody | Writer::Somebody => kind.writer,
        };
        if kind.place as usize == program.values.len() {
            return kinds.number(writer, kind.place, kind.value);
        }
        let x = LocationId::from_usize(kind.place as usize);
        let value = renaming.values[x][usize::from(kind.value)];
        kinds.number(writer, renaming.locations[x].index() as u32, value)
    };
    (0..kinds.len() as KindId).map(renamed).collect()
}

fn renamed_states(renaming: &Renaming, states: &[u32]) -> Vec<u32> {
    let mut image = vec![ABSENT; states.len()];
    for (process, &state) in states.iter().enumerate() {
        let process = ProcessId::from_usize(process);
        if state != ABSENT {
            image[renaming.processes[process].index()] = renaming.states[process][state as usize];
        }
    }
    image
}

fn renamed_sets(renaming: &Renaming, kinds: &[KindId], sets: &[SetId], lists: &Lists) -> Vec<SetId> {
    let mut image = vec![0; sets.len()];
    for (thread, &set) in sets.iter().enumerate() {
        let letter = |&letter: &u64| plain(kinds[kind_of(letter) as usize]) | claim_of(letter);
        let renamed = lists.set(set).map(|list| lists.number(lists.list(list).iter().map(letter).collect()));
        let thread = match thread + 1 == sets.len() {
            true => thread,
            false => renaming.processes[ProcessId::from_usize(thread)].index(),
        };
        image[thread] = lists.gather(renamed.collect());
    }
    image
}

fn compared(one: &[u32], other: &[u32], lists: &Lists) -> Ordering {
    let by_letters = |(&mine, &theirs): (&SetId, &SetId)| {
        let letters = |set| lists.set(set).map(|list| lists.list(list));
        if mine == theirs { Ordering::Equal } else { letters(mine).cmp(letters(theirs)) }
    };
    let of_states = states(one).cmp(states(other));
    of_states.then_with(|| {
        sets(one).iter().zip(sets(other)).map(by_letters).find(|it| it.is_ne()).unwrap_or(Ordering::Equal)
    })
}
