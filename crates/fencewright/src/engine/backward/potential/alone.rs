//! What a thread can have written by itself, whatever it finds.
//!
//! For each thread a graph: its local states with the value that it wrote last to each location, if any. Who reads
//! messages of the thread, or finds that a location holds what it held at the start, walks along that graph: a message
//! is read while it is the thread's last to its location, and what was read before tells how far the thread has come.
//!
//! ```text
//!    list of another thread:    (t, x, 1)  ···▶  (t, y, 2)  ···▶  the thread is where the constraint has it
//!    nodes of t:                last x = 1       last y = 2
//! ```
//!
//! All lists must lead to one node; a constraint for which there is none is never met.

use std::sync::{Arc, PoisonError, RwLock};

use super::constraint::{ABSENT, Draft};
use super::kinds::{Act, Flavor, KindId, Kinds, Place, Writer, is_last, kind_of};
use super::lists::Lists;
use crate::engine::automaton::{Datum, FastMap, ProcessAutomaton, RegisterFree, StateId};
use crate::engine::backward::WordId;
use crate::program::ProcessId;
use crate::util::{Idx, IndexVec};
use crate::watch::heed;

/// A thread whose graph is larger has none.
const MAX_NODES: usize = 4_096;

/// The location is as it was.
const NOTHING: Datum = Datum::MAX;

/// A set of nodes.
type Nodes = Box<[u64]>;

/// The graphs of all threads.
#[derive(Debug)]
pub(super) struct Alone {
    threads: IndexVec<ProcessId, Option<Graph>>,
    flavor: Flavor,
}

/// The graph of a thread.
#[derive(Debug)]
struct Graph {
    next: Vec<Vec<u32>>,
    all: Nodes,
    /// The nodes of each state.
    of_state: Vec<Nodes>,
    /// The nodes in which the last message of the thread is of a kind, or in which it has written nothing there; for
    /// kinds that say something about the thread.
    holding: Vec<Option<Nodes>>,
    /// Where a list of another thread may lead.
    walks: RwLock<FastMap<WordId, Arc<Nodes>>>,
}

impl Alone {
    /// The graphs of a program.
    pub(super) fn new(program: &RegisterFree, kinds: &Kinds, flavor: Flavor) -> Self {
        let graph = |(process, automaton)| Making::new(program, kinds, process, automaton).graph();
        Self { threads: program.processes.iter_enumerated().map(graph).collect(), flavor }
    }

    /// Whether the threads can have written what is to be read.
    pub(super) fn admits(&self, draft: &Draft, lists: &Lists) -> bool {
        self.threads
            .iter_enumerated()
            .all(|(process, graph)| graph.as_ref().is_none_or(|graph| graph.admits(process, draft, lists, self.flavor)))
    }
}

impl Graph {
    fn admits(&self, process: ProcessId, draft: &Draft, lists: &Lists, flavor: Flavor) -> bool {
        let mut nodes = match draft.states[process.index()] {
            ABSENT => self.all.clone(),
            state => self.of_state[state as usize].clone(),
        };
        for (of, set) in draft.sets.iter().enumerate() {
            for &list in set {
                if of == process.index() {
                    lists.list(list).iter().for_each(|&letter| self.hold(&mut nodes, kind_of(letter)));
                } else {
                    meet(&mut nodes, &self.walk(list, lists));
                    let is_claimed = |letter: &&u64| flavor == Flavor::Strong && is_last(**letter);
                    let last = lists.list(list).iter().filter(is_claimed);
                    last.for_each(|&letter| self.hold(&mut nodes, kind_of(letter)));
                }
            }
        }
        nodes.iter().any(|&word| word != 0)
    }

    fn hold(&self, nodes: &mut Nodes, kind: KindId) {
        if let Some(Some(holding)) = self.holding.get(kind as usize) {
            meet(nodes, holding);
        }
    }

    /// Where the thread can be once another one has read a list.
    fn walk(&self, list: WordId, lists: &Lists) -> Arc<Nodes> {
        if let Some(known) = self.walks.read().unwrap_or_else(PoisonError::into_inner).get(&list) {
            return Arc::clone(known);
        }
        let mut nodes = self.all.clone();
        for &letter in lists.list(list) {
            if let Some(Some(holding)) = self.holding.get(kind_of(letter) as usize) {
                meet(&mut nodes, holding);
                self.go_on(&mut nodes);
            }
        }
        let nodes = Arc::new(nodes);
        self.walks.write().unwrap_or_else(PoisonError::into_inner).insert(list, Arc::clone(&nodes));
        nodes
    }

    /// Adds all that the thread can get to.
    fn go_on(&self, nodes: &mut Nodes) {
        let mut todo: Vec<u32> = members(nodes).collect();
        heed(1 + todo.len() as u32 / 16);
        while let Some(node) = todo.pop() {
            for &next in &self.next[node as usize] {
                if insert(nodes, next) {
                    todo.push(next);
                }
            }
        }
    }
}

fn meet(nodes: &mut Nodes, others: &Nodes) {
    nodes.iter_mut().zip(others.iter()).for_each(|(mine, theirs)| *mine &= theirs);
}

fn insert(nodes: &mut Nodes, node: u32) -> bool {
    let (word, bit) = (&mut nodes[node as usize / 64], 1 << (node % 64));
    let is_new = *word & bit == 0;
    *word |= bit;
    is_new
}

fn members(nodes: &Nodes) -> impl Iterator<Item = u32> + '_ {
    let of_word = |(at, &word): (usize, &u64)| {
        (0..64).filter(move |bit| word & (1 << bit) != 0).map(move |bit| at as u32 * 64 + bit)
    };
    nodes.iter().enumerate().flat_map(of_word)
}

/// A node: a state, and the last value written to each place.
type Node = (StateId, Box<[Datum]>);

/// A graph being made.
struct Making<'a> {
    program: &'a RegisterFree,
    kinds: &'a Kinds,
    process: ProcessId,
    automaton: &'a ProcessAutomaton,
    /// Which places only this thread writes: what it finds there is its own, or what was there at the start.
    is_own: Vec<bool>,
    nodes: Vec<Node>,
    numbers: FastMap<Node, u32>,
    next: Vec<Vec<u32>>,
}

impl<'a> Making<'a> {
    fn new(program: &'a RegisterFree, kinds: &'a Kinds, process: ProcessId, automaton: &'a ProcessAutomaton) -> Self {
        let mut is_own = vec![false; program.values.len() + 1];
        kinds.written().filter(|it| it.0 == process).for_each(|(_, x, _)| is_own[x as usize] = true);
        kinds.written().filter(|it| it.0 != process).for_each(|(_, x, _)| is_own[x as usize] = false);
        let (nodes, numbers, next) = (Vec::new(), FastMap::default(), Vec::new());
        Self { program, kinds, process, automaton, is_own, nodes, numbers, next }
    }

    fn graph(mut self) -> Option<Graph> {
        let nothing: Box<[Datum]> = vec![NOTHING; self.program.values.len() + 1].into();
        for &state in self.automaton.initial.keys() {
            self.number((state, nothing.clone()));
        }
        let mut at = 0;
        while at < self.nodes.len() {
            if self.nodes.len() > MAX_NODES {
                return None;
            }
            heed(4);
            self.expand(at);
            at += 1;
        }
        Some(self.finished())
    }

    fn number(&mut self, node: Node) -> u32 {
        if let Some(&number) = self.numbers.get(&node) {
            return number;
        }
        let number = self.nodes.len() as u32;
        self.nodes.push(node.clone());
        self.numbers.insert(node, number);
        self.next.push(Vec::new());
        number
    }

    fn expand(&mut self, at: usize) {
        let (state, written) = self.nodes[at].clone();
        for &edge in &self.automaton.outgoing[state as usize] {
            let mut after = written.clone();
            let is_possible = match self.kinds.acts[self.process][edge as usize] {
                Act::Nop => true,
                Act::Read(x, value) | Act::Find(x, value) => self.may_find(&written, x, value),
                Act::Write(x, value) => {
                    after[x as usize] = value;
                    true
                }
                Act::Update(x, old, new) => {
                    after[x as usize] = new;
                    self.may_find(&written, x, old)
                }
            };
            if is_possible {
                let to = self.number((self.automaton.edges[edge as usize].to, after));
                self.next[at].push(to);
            }
        }
    }

    fn may_find(&self, written: &[Datum], x: Place, value: Datum) -> bool {
        let is_initial = || self.kinds.number(Writer::Nobody, x, value).is_some();
        !self.is_own[x as usize]
            || match written[x as usize] {
                NOTHING => is_initial(),
                own => own == value,
            }
    }

    fn finished(self) -> Graph {
        let none: Nodes = vec![0; self.nodes.len().div_ceil(64)].into();
        let such = |holds: &dyn Fn(&Node) -> bool| {
            let mut nodes = none.clone();
            let numbered = (0..).zip(&self.nodes).filter(|(_, node)| holds(node));
            numbered.for_each(|(number, _)| {
                insert(&mut nodes, number);
            });
            nodes
        };
        let of_state = (0..self.automaton.states.len() as StateId).map(|state| such(&|node| node.0 == state));
        let holding = |kind| {
            let kind = self.kinds.get(kind);
            let value = match kind.writer {
                Writer::Nobody => NOTHING,
                Writer::Thread(process) if process == self.process => kind.value,
                Writer::Thread(_) | Writer::Somebody => return None,
            };
            Some(such(&|node| node.1[kind.place as usize] == value))
        };
        Graph {
            all: such(&|_| true),
            of_state: of_state.collect(),
            holding: (0..self.kinds.len() as KindId).map(holding).collect(),
            next: self.next,
            walks: RwLock::default(),
        }
    }
}
