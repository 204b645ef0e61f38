//! Kinds of messages: who wrote which value where. A letter of a list is a kind, and whether it is to be the last
//! message of its location.
//!
//! The name of the writer is what makes one message serve several lists: of two messages of a kind the earlier knows
//! less, since both are of one thread. A location of which only last messages are ever asked for (lock words that are
//! only updated, the location of fences) needs no names: there is but one last message.

use crate::engine::automaton::{self, Datum, FastMap, LetterEdge, ProcessAutomaton, RegisterFree};
use crate::program::{FenceKind, ProcessId};
use crate::util::{Idx, IndexVec};

/// A kind, by its number.
pub(super) type KindId = u32;

/// A location, or one more behind them: that of fences.
pub(super) type Place = u32;

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Writer {
    /// It was there at the start.
    Nobody,
    /// This thread.
    Thread(ProcessId),
    /// It does not matter.
    Somebody,
}

/// A kind of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    pub writer: Writer,
    pub place: Place,
    pub value: Datum,
}

/// What an edge does to messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Nothing.
    Nop,
    /// Reads a value.
    Read(Place, Datum),
    /// Reads a value in the last message.
    Find(Place, Datum),
    /// Writes a value.
    Write(Place, Datum),
    /// Reads the first value and writes the second, right behind it.
    Update(Place, Datum, Datum),
}

/// All kinds of a program.
#[derive(Debug)]
pub(super) struct Kinds {
    all: Vec<Kind>,
    numbers: FastMap<Kind, KindId>,
    /// The kinds that a read of a value may find.
    sources: FastMap<(Place, Datum), Vec<KindId>>,
    /// Whether the writers of a place are told apart.
    is_named: Vec<bool>,
    /// Whether all that access a place act on its last message.
    is_ordered: Vec<bool>,
    /// What each edge of each thread does.
    pub acts: IndexVec<ProcessId, Vec<Act>>,
}

impl Kinds {
    /// The kinds of messages that threads may write. With `spares_names`, writers are told apart only where that may
    /// matter. Weak release/acquire has no last messages: what acts on these may act on any there, which allows more.
    pub(super) fn new(program: &RegisterFree, ordered: &[bool], flavor: Flavor, spares_names: bool) -> Self {
        let fence = program.values.len() as Place;
        let is_ordered: Vec<bool> = (0..=fence as usize).map(|x| ordered.get(x) == Some(&true)).collect();
        let is_found = |x: Place| flavor == Flavor::Strong && is_ordered[x as usize];
        let found = |act| {
            if let Act::Read(x, value) = act
                && is_found(x)
            {
                Act::Find(x, value)
            } else {
                act
            }
        };
        let of_process =
            |process: &ProcessAutomaton| process.edges.iter().map(|edge| found(act(edge, fence))).collect();
        let acts: IndexVec<ProcessId, Vec<Act>> = program.processes.iter().map(of_process).collect();
        let mut is_named = vec![!spares_names; fence as usize + 1];
        for (automaton, acts) in program.processes.iter().zip(acts.iter()) {
            for (edge, act) in automaton.edges.iter().zip(acts) {
                // Who reads and stays where it is might as well not have read.
                if let (Act::Read(x, _), true) = (act, edge.from != edge.to) {
                    is_named[*x as usize] = true;
                }
            }
        }
        let (all, numbers, sources) = (Vec::new(), FastMap::default(), FastMap::default());
        let mut kinds = Self { all, numbers, sources, is_named, is_ordered, acts };
        for (x, values) in program.initial.iter_enumerated() {
            values.iter().for_each(|&value| kinds.add(Writer::Nobody, x.index() as Place, value));
        }
        kinds.add(Writer::Nobody, fence, 0);
        let written: Vec<(ProcessId, Place, Datum)> = kinds.written().collect();
        written.into_iter().for_each(|(process, x, value)| kinds.add(Writer::Thread(process), x, value));
        kinds
    }

    /// What threads may write.
    pub(super) fn written(&self) -> impl Iterator<Item = (ProcessId, Place, Datum)> {
        self.acts.iter_enumerated().flat_map(|(process, acts)| {
            acts.iter().filter_map(move |act| match *act {
                Act::Write(x, value) | Act::Update(x, _, value) => Some((process, x, value)),
                Act::Nop | Act::Read(..) | Act::Find(..) => None,
            })
        })
    }

    fn add(&mut self, writer: Writer, place: Place, value: Datum) {
        let kind = self.named(writer, place, value);
        if self.numbers.contains_key(&kind) {
            return;
        }
        let number = self.all.len() as KindId;
        self.all.push(kind);
        self.numbers.insert(kind, number);
        self.sources.entry((place, value)).or_default().push(number);
    }

    fn named(&self, writer: Writer, place: Place, value: Datum) -> Kind {
        let writer = if self.is_named[place as usize] { writer } else { Writer::Somebody };
        Kind { writer, place, value }
    }

    /// Whether all that access a place act on its last message.
    pub(super) fn is_ordered(&self, place: Place) -> bool {
        self.is_ordered[place as usize]
    }

    /// How many kinds there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// A kind by its number.
    pub(super) fn get(&self, kind: KindId) -> Kind {
        self.all[kind as usize]
    }

    /// The number of a kind of messages, if somebody writes such.
    pub(super) fn number(&self, writer: Writer, place: Place, value: Datum) -> Option<KindId> {
        self.numbers.get(&self.named(writer, place, value)).copied()
    }

    /// What a thread writes.
    pub(super) fn of_thread(&self, process: ProcessId, place: Place, value: Datum) -> KindId {
        self.number(Writer::Thread(process), place, value).expect("all that threads write is known")
    }

    /// The kinds that a read of a value may find.
    pub(super) fn sources(&self, place: Place, value: Datum) -> &[KindId] {
        self.sources.get(&(place, value)).map_or(&[], Vec::as_slice)
    }
}

/// What an edge does to messages. Only full fences matter, as updates of one location more.
fn act(edge: &LetterEdge, fence: Place) -> Act {
    match &edge.letter {
        automaton::Letter::Nop | automaton::Letter::Fence(FenceKind::StoreStore) => Act::Nop,
        automaton::Letter::Fence(FenceKind::Full) => Act::Update(fence, 0, 0),
        automaton::Letter::Read(x, value) => Act::Read(x.index() as Place, *value),
        automaton::Letter::Write(x, value) => Act::Write(x.index() as Place, *value),
        automaton::Letter::Atomic(atomic) => {
            let &[(x, found)] = &atomic.guards[..] else { unreachable!("blocks are refused") };
            match atomic.writes[..] {
                [] => Act::Read(x.index() as Place, found),
                [(_, new), ..] => Act::Update(x.index() as Place, found, new),
            }
        }
    }
}

/// Which memory the lists are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Flavor {
    /// Strong release/acquire: a location has a last message, and that alone can be updated.
    #[default]
    Strong,
    /// Weak release/acquire: messages have no order but happens-before; each has one thread that may update it.
    Weak,
}

/// A letter: a kind of messages, and what is claimed of the message.
pub(super) type Letter = u64;

/// The claims of a letter take so many bits.
const CLAIM_BITS: u32 = 8;

/// Any message of a kind.
pub(super) const fn plain(kind: KindId) -> Letter {
    (kind as u64) << CLAIM_BITS
}

/// The last message of its location, of a kind.
pub(super) const fn last(kind: KindId) -> Letter {
    plain(kind) | 1
}

/// A message of a kind that this thread may update.
pub(super) const fn for_update(kind: KindId, thread: usize) -> Letter {
    plain(kind) | (thread as u64 + 1)
}

/// The kind of a letter; one behind all kinds for a marker.
pub(super) const fn kind_of(letter: Letter) -> KindId {
    (letter >> CLAIM_BITS) as KindId
}

/// What is claimed of the message; 0 is nothing.
pub(super) const fn claim_of(letter: Letter) -> u64 {
    letter & ((1 << CLAIM_BITS) - 1)
}

/// Whether a letter is about the last message, in lists of strong release/acquire.
pub(super) const fn is_last(letter: Letter) -> bool {
    claim_of(letter) == 1
}

/// Whether a letter asks for no more than another.
pub(super) const fn is_letter_below(smaller: Letter, larger: Letter) -> bool {
    smaller == larger || smaller == plain(kind_of(larger))
}

impl Kinds {
    /// The marker of a place: what is read there later is not in the past here.
    pub(super) fn marker(&self, place: Place) -> Letter {
        plain(self.all.len() as KindId + place)
    }

    /// The place that a marker is of; nothing for what is no marker.
    pub(super) fn marked(&self, letter: Letter) -> Option<Place> {
        (kind_of(letter) as usize).checked_sub(self.all.len()).map(|place| place as Place)
    }

    /// The place of a letter that is no marker.
    pub(super) fn place_of(&self, letter: Letter) -> Option<Place> {
        self.all.get(kind_of(letter) as usize).map(|kind| kind.place)
    }
}
