//! Lists of messages, and when one set of configurations holds another.
//!
//! A list asks for no more than another if its letters are among those of the other, in their order: who can read a
//! list can leave out letters. Last messages that are asked for right behind each other may be found in any order:
//! whatever a thread knows, it can read the last message of a location. So may markers right behind each other: what is
//! not in the past later is not in the past before.

use std::collections::HashMap;
use std::fmt;

use crate::certificate::basis::Class;
use crate::program::{ProcessId, Value};
use crate::util::{Idx, IndexVec};

/// A location, or one more behind them: that of fences.
pub(super) type Place = u32;

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Writer {
    /// It was there at the start.
    Start,
    /// This process.
    Process(ProcessId),
    /// Somebody: only of last messages, of which there is one.
    Any,
}

/// Which message of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Which {
    /// Any.
    Any,
    /// The last of its location; strong release/acquire has such.
    Last,
    /// One that this process may update and nobody else; weak release/acquire has such.
    UpdatedBy(ProcessId),
}

/// A message to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    /// Who wrote it.
    pub writer: Writer,
    /// Where.
    pub place: u32,
    /// What.
    pub value: Value,
    /// Which of those.
    pub which: Which,
}

impl Message {
    /// Whether what is a message for another is one for this.
    pub(super) fn is_below(&self, other: &Self) -> bool {
        (self.place, self.value) == (other.place, other.value)
            && (self.writer == Writer::Any || self.writer == other.writer)
            && (self.which == Which::Any || self.which == other.which)
    }
}

/// What stands in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Letter {
    /// A message to be read.
    Message(Message),
    /// What is read later of this location is not in the past here; weak release/acquire has such.
    Marker(u32),
}

impl Letter {
    /// The message to be read.
    pub(super) fn message(&self) -> Option<&Message> {
        match self {
            Self::Message(message) => Some(message),
            Self::Marker(_) => None,
        }
    }

    /// Whether it asks for no more than another.
    pub(super) fn is_below(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Message(mine), Self::Message(theirs)) => mine.is_below(theirs),
            (Self::Marker(mine), Self::Marker(theirs)) => mine == theirs,
            (Self::Message(_), Self::Marker(_)) | (Self::Marker(_), Self::Message(_)) => false,
        }
    }

    /// Whether it may change places with another that is right behind it.
    fn may_swap(&self, next: &Self) -> bool {
        let is_last = |it: &Self| it.message().is_some_and(|message| message.which == Which::Last);
        match (self, next) {
            (Self::Marker(_), Self::Marker(_)) => true,
            (Self::Message(_), _) | (Self::Marker(_), Self::Message(_)) => is_last(self) && is_last(next),
        }
    }
}

/// Messages to be read one after the other.
pub type List = Vec<Letter>;

/// A set of configurations: all in which processes are in these classes and can read these lists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    /// Where each process is, or anywhere.
    pub classes: IndexVec<ProcessId, Option<Class>>,
    /// What each process must be able to read, and what somebody must who takes no step.
    pub lists: Vec<Vec<List>>,
}

impl Element {
    /// All letters.
    pub(super) fn letters(&self) -> impl Iterator<Item = &Letter> {
        self.lists.iter().flatten().flatten()
    }

    /// All messages that are asked for.
    pub(super) fn messages(&self) -> impl Iterator<Item = &Message> {
        self.letters().filter_map(Letter::message)
    }

    /// Which processes are somewhere.
    fn named(&self) -> Vec<bool> {
        self.classes.iter().map(Option::is_some).collect()
    }
}

/// Whether the configurations of one element are among those of another.
pub(super) fn is_element_above(larger: &Element, smaller: &Element) -> bool {
    let mut classes = smaller.classes.iter().zip(&larger.classes);
    let mut lists = smaller.lists.iter().zip(&larger.lists);
    classes.all(|(mine, theirs)| mine.is_none() || mine == theirs)
        && lists.all(|(mine, theirs)| mine.iter().all(|list| theirs.iter().any(|it| is_list_below(list, it))))
}

/// Whether who can read one list can read another.
pub(super) fn is_list_below(smaller: &[Letter], larger: &[Letter]) -> bool {
    let mut runs = smaller.chunk_by(Letter::may_swap);
    let Some(mut wanted) = runs.next().map(<[Letter]>::to_vec) else { return true };
    for letter in larger {
        wanted.retain(|it| !it.is_below(letter));
        if wanted.is_empty() {
            match runs.next() {
                Some(run) => wanted = run.to_vec(),
                None => return true,
            }
        }
    }
    false
}

/// Finds elements that may cover another.
pub(super) struct Index<'a> {
    /// Which processes are somewhere, in the order in which that was first seen.
    named: Vec<Vec<bool>>,
    elements: HashMap<Vec<Option<Class>>, Vec<(u64, &'a Element)>>,
}

impl<'a> Index<'a> {
    pub(super) fn new(elements: &'a [Element]) -> Self {
        let mut index = Self { named: Vec::new(), elements: HashMap::new() };
        for element in elements {
            let named = element.named();
            if !index.named.contains(&named) {
                index.named.push(named);
            }
            let classes = element.classes.iter().copied().collect();
            index.elements.entry(classes).or_default().push((signature(element), element));
        }
        index
    }

    /// Whether some element holds all configurations of another.
    pub(super) fn covers(&self, element: &Element) -> bool {
        let bits = signature(element);
        self.named.iter().any(|named| {
            let classes = element.classes.iter().zip(named).map(|(class, is_named)| class.filter(|_| *is_named));
            let found = self.elements.get(&classes.collect::<Vec<_>>()).map_or(&[][..], Vec::as_slice);
            found.iter().any(|(theirs, it)| theirs & !bits == 0 && is_element_above(element, it))
        })
    }
}

/// A few bits by which most pairs are told not to hold each other: what is asked of whom.
fn signature(element: &Element) -> u64 {
    let mut bits = 0;
    for (reader, lists) in element.lists.iter().enumerate() {
        for letter in lists.iter().flatten().filter_map(Letter::message) {
            let place = letter.place as usize * 13 + letter.value.unsigned_abs() as usize * 5 + reader * 29;
            bits |= 1 << (place % 64);
        }
    }
    bits
}

impl fmt::Display for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = match self {
            Self::Message(message) => message,
            Self::Marker(place) => return write!(f, "new {place}"),
        };
        match message.which {
            Which::Any => f.write_str("see ")?,
            Which::Last => f.write_str("last ")?,
            Which::UpdatedBy(process) => write!(f, "take {} ", process.index())?,
        }
        match message.writer {
            Writer::Start => f.write_str("start")?,
            Writer::Process(process) => write!(f, "{}", process.index())?,
            Writer::Any => f.write_str("any")?,
        }
        write!(f, ":{}={}", message.place, message.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(writer: Writer, (place, value): (Place, Value), which: Which) -> Letter {
        Letter::Message(Message { writer, place, value, which })
    }

    fn see(place: Place, value: Value) -> Letter {
        letter(Writer::Start, (place, value), Which::Any)
    }

    fn last(place: Place, value: Value) -> Letter {
        letter(Writer::Start, (place, value), Which::Last)
    }

    #[test]
    fn markers_come_in_any_order_and_are_no_messages() {
        let (x, y) = (Letter::Marker(0), Letter::Marker(1));
        assert!(is_list_below(&[x, y, see(0, 1)], &[y, see(2, 0), x, see(0, 1)]));
        assert!(!is_list_below(&[see(2, 0), x, see(0, 1)], &[x, see(2, 0), see(0, 1)]));
        assert!(!is_list_below(&[x, see(0, 1)], &[see(0, 1)]));
        let taken = letter(Writer::Start, (0, 1), Which::UpdatedBy(ProcessId::from_usize(1)));
        assert!(is_list_below(&[see(0, 1)], &[taken]) && !is_list_below(&[taken], &[last(0, 1)]));
    }

    #[test]
    fn letters_may_be_left_out_and_last_ones_come_in_any_order() {
        assert!(is_list_below(&[], &[]));
        assert!(is_list_below(&[see(0, 1), see(1, 0)], &[see(0, 1), see(2, 0), last(1, 0)]));
        assert!(!is_list_below(&[see(0, 1), see(1, 0)], &[see(1, 0), see(0, 1)]));
        assert!(!is_list_below(&[last(0, 1)], &[see(0, 1)]));
        assert!(is_list_below(&[last(0, 1), last(1, 0)], &[last(1, 0), see(2, 0), last(0, 1)]));
        assert!(!is_list_below(&[last(0, 1), see(1, 0)], &[last(1, 0), last(0, 1)]));
        assert!(!is_list_below(&[see(0, 1), see(0, 1)], &[see(0, 1)]));
    }

    #[test]
    fn any_writer_asks_for_less_than_one() {
        let any = letter(Writer::Any, (0, 1), Which::Last);
        assert!(is_list_below(&[any], &[last(0, 1)]));
        assert!(!is_list_below(&[last(0, 1)], &[any]));
    }
}
