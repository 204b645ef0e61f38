//! One constraint for all that differ only in which of some interchangeable processes is which.
//!
//! Of all constraints that renamings lead to, the least stands for the others: local states first, then buffers, then
//! memory, compared by contents, since the numbers of words depend on which thread comes first.
//!
//! A path of the search is then a path up to renaming: the rule that was found from a constraint leads to its
//! predecessor *before* that was renamed. Going along the path, all renamings so far are applied to each rule.

use std::cmp::Ordering;

use crate::engine::backward::Words;
use crate::engine::backward::facts::Stage;
use crate::engine::backward::lag::constraint::{ABSENT, Message};
use crate::engine::backward::lag::system::{Draft, LoadBuffers, Rule, RuleKind};
use crate::engine::backward::lag::values::Values;
use crate::engine::backward::symmetry::Renaming;
use crate::program::ProcessId;
use crate::util::Idx;

/// A renaming, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::backward) struct Turn(u16);

impl Turn {
    /// Nothing is renamed.
    pub(in crate::engine::backward) const NONE: Self = Self(0);
}

/// The renamings of a program.
#[derive(Debug)]
pub(in crate::engine::backward) struct Turning {
    /// All of them; the first changes nothing.
    renamings: Vec<Renaming>,
}

impl Turning {
    /// Renamings that are closed under composition; the first changes nothing.
    pub(in crate::engine::backward) fn new(renamings: Vec<Renaming>) -> Self {
        Self { renamings }
    }

    /// Makes a constraint the least that renamings lead to; which one did.
    pub(in crate::engine::backward) fn turn(&self, system: &LoadBuffers<'_>, draft: &mut Draft) -> Turn {
        let mut least: Option<(usize, Draft)> = None;
        for (number, renaming) in self.renamings.iter().enumerate().skip(1) {
            let best = least.as_ref().map_or(&*draft, |(_, image)| image);
            match compared_states(renaming, draft, best) {
                Ordering::Greater => {}
                Ordering::Less => least = Some((number, renamed(system, renaming, draft))),
                Ordering::Equal => {
                    let image = renamed(system, renaming, draft);
                    if compared(system, &image, best) == Ordering::Less {
                        least = Some((number, image));
                    }
                }
            }
        }
        let Some((number, image)) = least else { return Turn::NONE };
        *draft = image;
        Turn(u16::try_from(number).expect("there are few renamings"))
    }
}

/// Compares the states of an image with those of another constraint.
fn compared_states(renaming: &Renaming, draft: &Draft, other: &Draft) -> Ordering {
    let images = renaming.origins.iter().map(|&process| match draft.words[process.index()] {
        ABSENT => ABSENT,
        state => renaming.states[process][state as usize],
    });
    images.cmp(other.words[..renaming.origins.len()].iter().copied())
}

fn compared(system: &LoadBuffers<'_>, a: &Draft, b: &Draft) -> Ordering {
    let words = 0..a.words.len() - 1;
    let n_states = system.processes().count();
    let by_contents = |word: usize| match word < n_states {
        true => a.words[word].cmp(&b.words[word]),
        false => system.letters(a.words[word]).cmp(system.letters(b.words[word])),
    };
    let different = words.into_iter().find(|&word| a.words[word] != b.words[word]);
    different.map_or_else(|| a.memory.cmp(&b.memory), by_contents)
}

fn renamed(system: &LoadBuffers<'_>, renaming: &Renaming, draft: &Draft) -> Draft {
    let mut image = draft.clone();
    let values = |x, values: Values| system.encoding.renamed(x, values, &renaming.values[x]);
    for (x, &to) in renaming.locations.iter_enumerated() {
        image.memory[to.index()] = values(x, draft.memory[x.index()]);
    }
    for process in system.processes() {
        let to = renaming.processes[process];
        image.words[to.index()] = match draft.words[process.index()] {
            ABSENT => ABSENT,
            state => renaming.states[process][state as usize],
        };
        let messages = system.word(&draft.words, process).into_iter().map(|message| {
            let x = message.location();
            let make = if message.is_own() { Message::own } else { Message::sample };
            make(renaming.locations[x], values(x, message.values()))
        });
        image.words[system.buffer(to)] = system.intern(messages.collect());
        if system.machine.stage != Stage::None {
            for (x, &y) in renaming.locations.iter_enumerated() {
                let word = draft.words[system.store(process, x)];
                let stores = system.letters(word).iter().map(|&it| values(x, Values::from_bits(it)).bits());
                let stores: Vec<u64> = stores.collect();
                image.words[system.store(to, y)] =
                    if word == Words::EMPTY { word } else { system.intern_letters(&stores) };
            }
        }
    }
    image
}

impl LoadBuffers<'_> {
    /// The rules of a path as those of one run, which starts where the path does.
    pub(in crate::engine::backward) fn straightened(&self, rules: &[Rule]) -> Vec<Rule> {
        let Some(identity) = self.turning().renamings.first() else { return rules.to_vec() };
        let mut frame = identity.clone();
        let straightened = rules.iter().map(|rule| {
            frame = self.turning().renamings[usize::from(rule.turn.0)].then(&frame);
            self.renamed_rule(rule, &frame)
        });
        straightened.collect()
    }

    fn renamed_rule(&self, rule: &Rule, renaming: &Renaming) -> Rule {
        let choice = |choice| self.renamed_choice(rule.process, choice, renaming);
        let kind = match rule.kind {
            RuleKind::Nop(it) => RuleKind::Nop(choice(it)),
            RuleKind::ReadOwn(it) => RuleKind::ReadOwn(choice(it)),
            RuleKind::ReadHead(it) => RuleKind::ReadHead(choice(it)),
            RuleKind::Write(it) => RuleKind::Write(choice(it)),
            RuleKind::Store(it) => RuleKind::Store(choice(it)),
            RuleKind::Drained(it) => RuleKind::Drained(choice(it)),
            RuleKind::Propagate(x) => RuleKind::Propagate(renaming.locations[x]),
            RuleKind::Delete(x) => RuleKind::Delete(renaming.locations[x]),
            RuleKind::Serialize { location: x, values, is_last, pushes } => {
                let values = self.encoding.renamed(x, values, &renaming.values[x]);
                RuleKind::Serialize { location: renaming.locations[x], values, is_last, pushes }
            }
        };
        Rule::new(renaming.processes[rule.process], kind)
    }

    /// The choice that a choice becomes: the one with the image of its first edge.
    fn renamed_choice(&self, process: ProcessId, choice: u32, renaming: &Renaming) -> u32 {
        let to = renaming.processes[process];
        let states = &renaming.states[process];
        let edge = &self.program.processes[process].edges[self.choices[process].all[choice as usize].edges[0] as usize];
        let letter = renaming.letter(&edge.letter);
        let is_image = |&candidate: &u32| {
            let candidate = &self.program.processes[to].edges[candidate as usize];
            candidate.from == states[edge.from as usize]
                && candidate.to == states[edge.to as usize]
                && candidate.letter.clone().ordered() == letter
        };
        let mut choices = self.choices[to].all.iter();
        let found = choices.position(|choice| choice.edges.iter().any(is_image));
        found.expect("a renaming maps edges to edges") as u32
    }
}
