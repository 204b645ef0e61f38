//! What holds of every configuration, so that what contradicts it need not be covered.
//!
//! - *One last message*: a location has one, and behind it nothing else of the location is read. It has one message
//!   that was there at the start. Weak release/acquire has no last messages; there the first one has one process that
//!   may update it, and is in the past of everybody.
//! - *What a process can have written*: its classes with the value that it wrote last to each location are a graph, on
//!   which it goes whatever it finds (of a location that nobody else writes it finds what it wrote itself). Who reads
//!   messages of the process, or first messages, goes along that graph: when a message is read, the process had come to
//!   where it was its last one to the location, at least, and what was read before tells how far it had come then. All
//!   lists lead to one node, that of now. The process itself reads its last message to a location, or, if it has
//!   written none, one of another; and a last message is the last one of its writer.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::certificate::basis::Class;
use crate::certificate::verify::{Failure, Steps};
use crate::program::{ProcessId, Value};
use crate::util::{BitSet, Idx, IndexVec};

use super::Strength;
use super::before::{Act, Acting, Edge};
use super::lists::{Element, Letter, List, Message, Place, Which, Writer};

/// Of a process with a larger graph nothing is known.
const MAX_NODES: usize = 4_096;

/// What holds of every configuration.
pub(super) struct Facts {
    strength: Strength,
    graphs: IndexVec<ProcessId, Option<Graph>>,
}

/// Where a process can be by itself.
struct Graph {
    nodes: Vec<Node>,
    next: Vec<Vec<usize>>,
    /// Where it can be once somebody has read a list.
    walks: RefCell<HashMap<List, Rc<BitSet>>>,
}

/// A class, and what was written last to each location that was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Node {
    class: Class,
    written: BTreeMap<Place, Value>,
}

impl Facts {
    pub(super) fn new(acting: &Acting, strength: Strength, steps: &mut Steps<'_>) -> Result<Self, Failure> {
        let graphs = acting.edges.indices().map(|process| Graph::new(acting, process, steps));
        Ok(Self { strength, graphs: graphs.collect::<Result<Vec<_>, Failure>>()?.into() })
    }

    /// Whether a configuration may be in an element.
    pub(super) fn admit(&self, element: &Element) -> bool {
        let is_right = match self.strength {
            Strength::Strong => has_one_last(element),
            Strength::Weak => has_one_first(element),
        };
        let mut graphs = self.graphs.iter_enumerated();
        is_right && graphs.all(|(process, graph)| graph.as_ref().is_none_or(|graph| graph.admits(process, element)))
    }
}

/// Whether there is at most one last message of each location, behind which nothing else is read of it; and one that
/// was there at the start.
fn has_one_last(element: &Element) -> bool {
    // Somebody's message may be anybody's.
    let may_be_one = |one: &Message, other: &Message| {
        one.value == other.value && (one.writer == other.writer || [one.writer, other.writer].contains(&Writer::Any))
    };
    let (mut lasts, mut firsts) = (BTreeMap::new(), BTreeMap::new());
    for list in element.lists.iter().flatten() {
        let mut behind: BTreeMap<Place, Message> = BTreeMap::new();
        for letter in list.iter().filter_map(Letter::message) {
            let is_last = letter.which == Which::Last;
            let is_other = |it: &Message| !may_be_one(it, letter);
            let is_first = letter.writer == Writer::Start;
            if behind.get(&letter.place).is_some_and(is_other)
                || (is_first && *firsts.entry(letter.place).or_insert(letter.value) != letter.value)
                || (is_last && is_other(lasts.entry(letter.place).or_insert(*letter)))
            {
                return false;
            }
            if is_last {
                behind.insert(letter.place, *letter);
            }
        }
    }
    true
}

/// Whether there is one first message of each location, with one process that may update it, and not asked for where it
/// must not be in the past.
fn has_one_first(element: &Element) -> bool {
    let (mut firsts, mut updaters) = (BTreeMap::new(), BTreeMap::new());
    for list in element.lists.iter().flatten() {
        let mut marked = BTreeSet::new();
        for letter in list {
            let message = match letter {
                Letter::Marker(place) => {
                    marked.insert(*place);
                    continue;
                }
                Letter::Message(message) => message,
            };
            let is_first = message.writer == Writer::Start;
            let is_updated = matches!(message.which, Which::UpdatedBy(_));
            if is_first
                && (marked.contains(&message.place)
                    || *firsts.entry(message.place).or_insert(message.value) != message.value
                    || (is_updated && *updaters.entry(message.place).or_insert(message.which) != message.which))
            {
                return false;
            }
        }
    }
    true
}

impl Graph {
    fn new(acting: &Acting, process: ProcessId, steps: &mut Steps<'_>) -> Result<Option<Self>, Failure> {
        let mut numbers = BTreeMap::new();
        let mut nodes: Vec<Node> = Vec::new();
        let mut next: Vec<Vec<usize>> = Vec::new();
        let mut outgoing: BTreeMap<Class, Vec<&Edge>> = BTreeMap::new();
        acting.edges[process].iter().for_each(|edge| outgoing.entry(edge.from).or_default().push(edge));
        let mut number = |node: Node, nodes: &mut Vec<Node>| {
            *numbers.entry(node.clone()).or_insert_with(|| {
                nodes.push(node);
                nodes.len() - 1
            })
        };
        for &class in &acting.starts[process] {
            number(Node { class, written: BTreeMap::new() }, &mut nodes);
        }
        while next.len() < nodes.len() {
            if nodes.len() > MAX_NODES {
                return Ok(None);
            }
            let node = nodes[next.len()].clone();
            let mut behind = Vec::new();
            for edge in outgoing.get(&node.class).map_or(&[][..], Vec::as_slice) {
                steps.step(0)?;
                if let Some(to) = node.after(acting, process, edge) {
                    behind.push(number(to, &mut nodes));
                }
            }
            next.push(behind);
        }
        Ok(Some(Self { nodes, next, walks: RefCell::default() }))
    }

    fn admits(&self, process: ProcessId, element: &Element) -> bool {
        let class = element.classes[process];
        let here = (0..self.nodes.len()).filter(|&at| class.is_none_or(|class| self.nodes[at].class == class));
        let mut here: BitSet = here.collect();
        for (reader, lists) in element.lists.iter().enumerate() {
            let is_own = reader == process.index();
            for list in lists {
                if !is_own {
                    here.intersect_with(&self.walk(process, list));
                }
                let messages = list.iter().filter_map(Letter::message);
                for letter in messages.filter(|letter| is_own || letter.which == Which::Last) {
                    self.keep(&mut here, process, letter);
                }
            }
        }
        here.iter().next().is_some()
    }

    /// Where the process can be once another one has read a list.
    fn walk(&self, process: ProcessId, list: &List) -> Rc<BitSet> {
        if let Some(known) = self.walks.borrow().get(list) {
            return Rc::clone(known);
        }
        let mut here: BitSet = (0..self.nodes.len()).collect();
        for letter in list.iter().filter_map(Letter::message) {
            if self.keep(&mut here, process, letter) {
                self.go_on(&mut here);
            }
        }
        let here = Rc::new(here);
        self.walks.borrow_mut().insert(list.clone(), Rc::clone(&here));
        here
    }

    /// Keeps the nodes in which a message is the last that the process wrote there, or in which it has written nothing;
    /// whether the message tells anything of the process.
    fn keep(&self, here: &mut BitSet, process: ProcessId, letter: &Message) -> bool {
        let wanted = match letter.writer {
            Writer::Start => None,
            Writer::Process(writer) if writer == process => Some(letter.value),
            Writer::Process(_) | Writer::Any => return false,
        };
        let others = here.iter().filter(|&at| self.nodes[at].written.get(&letter.place).copied() != wanted);
        others.collect::<Vec<_>>().into_iter().for_each(|at| here.remove(at));
        true
    }

    fn go_on(&self, here: &mut BitSet) {
        let mut todo: Vec<usize> = here.iter().collect();
        while let Some(at) = todo.pop() {
            todo.extend(self.next[at].iter().copied().filter(|&next| here.insert(next)));
        }
    }
}

impl Node {
    /// Where an edge leads, if the process can take it.
    fn after(&self, acting: &Acting, process: ProcessId, edge: &Edge) -> Option<Self> {
        let mut written = self.written.clone();
        let may_find = |x: Place, value: Value| {
            !acting.is_sole_writer(process, x)
                || match self.written.get(&x) {
                    None => acting.is_initial(x, value),
                    Some(&own) => own == value,
                }
        };
        match edge.act {
            Act::Local => {}
            Act::Read(x, value) | Act::Find(x, value) => {
                return may_find(x, value).then_some(Self { class: edge.to, written });
            }
            Act::Write(x, value) => drop(written.insert(x, value)),
            Act::Update(x, old, new) => {
                if !may_find(x, old) {
                    return None;
                }
                written.insert(x, new);
            }
        }
        Some(Self { class: edge.to, written })
    }
}
