//! What steps do to messages, and what must have been so before one that leads into an element.
//!
//! Lemma, step by step, for a step of `τ` from a configuration `d` to one of the element `c`:
//!
//! - *local*: `d` is in `c`, with the class before.
//! - *find x, v*, where all that access x act on its last message: as a read, of the last one.
//! - *read x, v*: every list of `τ` was readable behind the message. One writer `t` wrote that, so `d` can read
//!   (t, x, v) before each list.
//! - *write x, v* of a message `m`. Lists of `τ` behind it read nothing of x but `m`. A list of another process either
//!   does not read `m`; then it was readable before, and asks for no last message of x. Or it reads `m` first at some
//!   letter: what stands before that letter was readable, and asks for no last message of x; what stands behind it
//!   reads nothing of x but `m`, and what is left of that without x was readable for the process and for `τ`, whose
//!   view `m` has. Which of these holds of each list is tried in every combination.
//! - *update x, v, v'*: a write of v', before which `τ` reads the last message of x, that of v. *Fence*: an update of
//!   one more location.
//!
//! Weak release/acquire has no last message. A message is born with one process that may update it, and an update reads
//! one that `τ` may update. Behind a write of `τ` messages of x by *others* are still read if they were not in its
//! past: what `τ` must have been able to read begins with a marker of x then. Behind a marker of x the new message is
//! not read where it is in the past: by `τ` itself, and behind the letter that it was first read at.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::certificate::basis::Class;
use crate::certificate::locals::Letter as Offered;
use crate::certificate::quotient::{self, Quotient};
use crate::certificate::verify::{Failure, Steps};
use crate::memory::{Sequential, sequential};
use crate::program::{FenceKind, ProcessId, Program, Value};
use crate::util::{Idx, IndexVec};

use super::Strength;
use super::lists::{Element, Letter, List, Message, Place, Which, Writer};

/// What a step does to messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Nothing.
    Local,
    /// Reads a value.
    Read(Place, Value),
    /// Finds a value in the last message.
    Find(Place, Value),
    /// Writes a value.
    Write(Place, Value),
    /// Finds the first value in the last message, and writes the second.
    Update(Place, Value, Value),
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("a local step"),
            Self::Read(x, value) => write!(f, "a read of {value} at location {x}"),
            Self::Find(x, value) => write!(f, "a read of the last {value} at location {x}"),
            Self::Write(x, value) => write!(f, "a write of {value} to location {x}"),
            Self::Update(x, old, new) => write!(f, "an update of location {x} from {old} to {new}"),
        }
    }
}

/// A step between classes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) from: Class,
    pub(super) to: Class,
    pub(super) act: Act,
}

/// What all processes do to messages.
pub(super) struct Acting {
    /// The steps of each process.
    pub(super) edges: IndexVec<ProcessId, Vec<Edge>>,
    /// Where each process starts.
    pub(super) starts: IndexVec<ProcessId, BTreeSet<Class>>,
    /// The location of fences, behind all others.
    pub(super) fence: Place,
    /// The locations all of whose accesses act on the last message; none if there are no last messages, which allows
    /// more.
    pub(super) is_ordered: Vec<bool>,
    strength: Strength,
    initial: BTreeSet<(Place, Value)>,
    written: BTreeMap<(Place, Value), BTreeSet<ProcessId>>,
}

/// What an element takes, roughly.
const BYTES: u64 = 512;

/// What a list of another process was before a write, and what the writer must have been able to read.
type Way = (List, Option<List>);

impl Acting {
    /// Of the processes over classes.
    pub(super) fn new(program: &Program, strength: Strength, quotient: &Quotient) -> Result<Self, Failure> {
        let fence = quotient.initial.len() as Place;
        let is_strong = strength == Strength::Strong;
        let is_ordered =
            sequential(program).iter().map(|&it| is_strong && it == Sequential::Always).collect::<Vec<_>>();
        let edge = |edge: &quotient::Edge| {
            let act = act(&edge.letter, fence)?;
            let act = if let Act::Read(x, value) = act
                && is_ordered[x as usize]
            {
                Act::Find(x, value)
            } else {
                act
            };
            Ok(Edge { from: edge.from, to: edge.to, act })
        };
        let edges = quotient.processes.iter().map(|it| it.edges.iter().map(edge).collect::<Result<Vec<_>, Failure>>());
        let edges: IndexVec<ProcessId, Vec<Edge>> = edges.collect::<Result<Vec<_>, Failure>>()?.into();
        let mut written: BTreeMap<_, BTreeSet<ProcessId>> = BTreeMap::new();
        for (process, edges) in edges.iter_enumerated() {
            for edge in edges {
                if let Act::Write(x, value) | Act::Update(x, _, value) = edge.act {
                    written.entry((x, value)).or_default().insert(process);
                }
            }
        }
        let of_location = quotient.initial.iter_enumerated();
        let initial = of_location.flat_map(|(x, values)| values.iter().map(move |&value| (x.index() as Place, value)));
        let initial = initial.chain([(fence, 0)]).collect();
        let starts = quotient.processes.iter().map(|it| it.initial.clone()).collect();
        Ok(Self { edges, starts, fence, is_ordered, strength, initial, written })
    }

    /// Whether a location may hold a value at the start.
    pub(super) fn is_initial(&self, place: Place, value: Value) -> bool {
        self.initial.contains(&(place, value))
    }

    /// Who may have written a value.
    pub(super) fn writers(&self, place: Place, value: Value) -> Vec<Writer> {
        let processes = self.written.get(&(place, value)).into_iter().flatten();
        let first = self.is_initial(place, value).then_some(Writer::Start);
        first.into_iter().chain(processes.map(|&process| Writer::Process(process))).collect()
    }

    /// Whether only this process writes to a location.
    pub(super) fn is_sole_writer(&self, process: ProcessId, place: Place) -> bool {
        let of_place = self.written.range((place, Value::MIN)..=(place, Value::MAX));
        of_place.flat_map(|it| it.1).all(|&writer| writer == process)
    }

    /// Appends what an element must have been before a step of a process, but for the class of that.
    pub(super) fn before(
        &self,
        after: &Element,
        process: ProcessId,
        edge: &Edge,
        steps: &mut Steps<'_>,
        out: &mut Vec<Element>,
    ) -> Result<(), Failure> {
        match edge.act {
            Act::Local => out.push(after.clone()),
            Act::Read(x, value) => out.extend(self.found(after, process, (x, value), Which::Any)),
            Act::Find(x, value) => out.extend(self.found(after, process, (x, value), Which::Last)),
            Act::Write(x, value) => out.extend(self.before_write(after, process, (x, value), steps)?),
            Act::Update(x, old, new) => {
                let which = match self.strength {
                    Strength::Strong => Which::Last,
                    Strength::Weak => Which::UpdatedBy(process),
                };
                for before in self.before_write(after, process, (x, new), steps)? {
                    out.extend(self.found(&before, process, (x, old), which));
                }
            }
        }
        Ok(())
    }

    /// A process reads a message before all else, whoever wrote it.
    fn found(
        &self,
        element: &Element,
        process: ProcessId,
        (place, value): (Place, Value),
        which: Which,
    ) -> Vec<Element> {
        let with = |writer: Writer| {
            let letter = Letter::Message(Message { writer, place, value, which });
            let mut element = element.clone();
            let lists = &mut element.lists[process.index()];
            match lists.is_empty() {
                true => lists.push(vec![letter]),
                false => lists.iter_mut().for_each(|list| list.insert(0, letter)),
            }
            element
        };
        self.writers(place, value).into_iter().map(with).collect()
    }

    /// What an element must have been before a write.
    fn before_write(
        &self,
        after: &Element,
        process: ProcessId,
        (place, value): (Place, Value),
        steps: &mut Steps<'_>,
    ) -> Result<Vec<Element>, Failure> {
        let written = |which| Message { writer: Writer::Process(process), place, value, which };
        let message = match self.strength {
            Strength::Strong => written(Which::Last),
            Strength::Weak => written(Which::Any),
        };
        let mut all = New { message, strength: self.strength }.before(after, process, steps)?;
        // Who may update it is one of those that somebody asks for, or does not matter.
        let is_kind = |it: &&Message| Message { which: message.which, ..**it } == message;
        let asked: BTreeSet<Which> = after.messages().filter(is_kind).map(|it| it.which).collect();
        for which in asked.into_iter().filter(|it| matches!(it, Which::UpdatedBy(_))) {
            all.extend(New { message: written(which), strength: self.strength }.before(after, process, steps)?);
        }
        Ok(all)
    }
}

fn act(letter: &Offered, fence: Place) -> Result<Act, Failure> {
    match letter {
        Offered::Nop | Offered::Fence(FenceKind::StoreStore) => Ok(Act::Local),
        Offered::Fence(FenceKind::Full) => Ok(Act::Update(fence, 0, 0)),
        Offered::Read(x, value) => Ok(Act::Read(x.index() as Place, *value)),
        Offered::Write(x, value) => Ok(Act::Write(x.index() as Place, *value)),
        Offered::Atomic(atomic) => match (&atomic.guards[..], &atomic.writes[..], atomic.location) {
            // Nobody else hears what an update tells of whose location nothing is known.
            ([], [], Some(_)) => Ok(Act::Local),
            ([(x, found)], [], Some(_)) => Ok(Act::Read(x.index() as Place, *found)),
            ([(x, found)], [(y, new)], Some(_)) if x == y => Ok(Act::Update(x.index() as Place, *found, *new)),
            _ => Failure::refused("release/acquire has no `atomic` blocks but single updates"),
        },
    }
}

/// A message that is written.
struct New {
    message: Message,
    strength: Strength,
}

impl New {
    /// Every combination of what lists were before the write.
    fn before(&self, after: &Element, process: ProcessId, steps: &mut Steps<'_>) -> Result<Vec<Element>, Failure> {
        let mut own = after.clone();
        for list in &mut own.lists[process.index()] {
            let Some(behind) = self.behind(list) else { return Ok(Vec::new()) };
            *list = self.for_writer(&behind);
        }
        let mut all = vec![own];
        for (reader, lists) in after.lists.iter().enumerate().filter(|(reader, _)| *reader != process.index()) {
            for (at, list) in lists.iter().enumerate() {
                let ways = self.ways(list);
                let mut more = Vec::with_capacity(all.len() * ways.len());
                for element in &all {
                    for (before, for_writer) in &ways {
                        steps.step((all.len() + more.len()) as u64 * BYTES)?;
                        let mut element = element.clone();
                        element.lists[reader][at].clone_from(before);
                        element.lists[process.index()].extend(for_writer.clone());
                        more.push(element);
                    }
                }
                all = more;
            }
        }
        // What asks for nothing may as well be left out, so that who may be anywhere is asked for nothing.
        all.iter_mut().flat_map(|it| &mut it.lists).for_each(|lists| lists.retain(|list| !list.is_empty()));
        Ok(all)
    }

    /// What a list of another process may have been: it did not read the new message, or first at one of its letters.
    fn ways(&self, list: &[Letter]) -> Vec<Way> {
        let is_claimed = |letter: &Letter| {
            letter.message().is_some_and(|it| it.place == self.message.place && it.which == Which::Last)
        };
        let mut ways = Vec::new();
        if !list.iter().any(is_claimed) {
            ways.push((list.to_vec(), None));
        }
        for at in 0..list.len() {
            if list[..at].iter().any(is_claimed) {
                break;
            }
            if list[at].message().is_some_and(|it| it.is_below(&self.message))
                && let Some(behind) = self.behind(&list[at + 1..])
            {
                ways.push(([&list[..at], &behind].concat(), Some(self.for_writer(&behind))));
            }
        }
        ways
    }

    /// What is left of what is read behind the new message, without that; nothing if it cannot be read there.
    fn behind(&self, list: &[Letter]) -> Option<List> {
        let mut left = List::new();
        for &letter in list {
            let is_marked = || left.contains(&Letter::Marker(self.message.place));
            match letter {
                Letter::Message(it) if it.place != self.message.place => left.push(letter),
                Letter::Marker(_) => left.push(letter),
                Letter::Message(it) if it.is_below(&self.message) && !is_marked() => {}
                Letter::Message(it) if self.is_concurrent(&it) => left.push(letter),
                Letter::Message(_) => return None,
            }
        }
        Some(left)
    }

    /// Whether an older message of the location may still be read: one of another process, if there is no order.
    fn is_concurrent(&self, older: &Message) -> bool {
        let is_other = match older.writer {
            Writer::Process(_) => older.writer != self.message.writer,
            Writer::Start | Writer::Any => false,
        };
        self.strength == Strength::Weak && is_other
    }

    /// What the writer must have been able to read where somebody goes on so behind its message.
    fn for_writer(&self, behind: &[Letter]) -> List {
        let place = self.message.place;
        let has_older = behind.iter().filter_map(Letter::message).any(|it| it.place == place);
        has_older.then_some(Letter::Marker(place)).into_iter().chain(behind.iter().copied()).collect()
    }
}
