//! Any number of threads with an index, by programs with a fixed number of them.
//!
//! The program itself has two. What holds for every number is shown by *representatives*, in whose families threads
//! with an odd index are told apart and one with an even index stands for any number of others; runs are those of
//! *instances*. What the text may say of an index is seen to by the front end.

use std::collections::BTreeSet;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use crate::program::{
    Copies, EdgeId, Instance, LocationId, Op, Placement, Position, ProcessId, Program, Situation, StateVar,
};
use crate::source::Span;
use crate::util::{Idx, IndexVec, Memo};

/// Programs that stand for one with any number of threads.
#[derive(Debug)]
pub struct Indexed {
    /// The threads with an index.
    pub families: Vec<String>,
    /// The arrays with a cell for each of them.
    pub arrays: Vec<String>,
    /// With one and with two threads of each family that are told apart.
    pub representatives: Vec<Program>,
    /// The same with the indices of loops in registers.
    pub counted: Counted,
    /// With more than two threads.
    pub instances: Vec<Program>,
}

/// Representatives in which all threads of a family have the same control flow: the indices of loops over threads are
/// in registers.
#[derive(Debug, Default)]
pub struct Counted {
    /// With one, two and three threads of each family that are told apart; none if they cannot be made.
    pub programs: Vec<Program>,
    /// Where the registers are declared that hold an index.
    pub indices: BTreeSet<Span>,
}

/// An operation of the text, in whichever program: its thread, its place, and what it is.
type Key<'a> = (&'a str, Span, Discriminant<Op>);

impl Program {
    /// The same with what stands for any number of its threads.
    #[must_use]
    pub(crate) fn with_indexed(self, indexed: Indexed) -> Self {
        Self { indexed: Some(Arc::new(indexed)), memo: Memo::default(), ..self }
    }

    /// What stands for any number of its threads, if it has any number of threads with an index.
    pub fn indexed(&self) -> Option<&Indexed> {
        self.indexed.as_deref()
    }

    /// What is left of that where another question is asked, which nobody has asked of the others: nothing.
    pub(super) fn unasked(&self) -> Option<Arc<Indexed>> {
        self.indexed.as_ref().map(|it| {
            let (families, arrays) = (it.families.clone(), it.arrays.clone());
            let (representatives, instances) = (Vec::new(), Vec::new());
            Arc::new(Indexed { families, arrays, representatives, counted: Counted::default(), instances })
        })
    }

    fn key(&self, edge: EdgeId) -> Key<'_> {
        let edge = &self.edges[edge];
        (self.family(&self.processes[edge.process]), edge.span, discriminant(&edge.op))
    }

    /// The edges of an operation of the text; nothing if several operations cannot be told apart.
    fn edges_of(&self, key: Key<'_>) -> Option<Vec<EdgeId>> {
        let edges: Vec<EdgeId> = self.edges.indices().filter(|&edge| self.key(edge) == key).collect();
        let operations: BTreeSet<_> = edges.iter().map(|&edge| self.edges[edge].operation).collect();
        (operations.len() <= 1).then_some(edges)
    }

    /// Fences over this program, over another of the same text; nothing if they differ in copies of an operation.
    pub fn placement_over(&self, placement: &Placement, other: &Self) -> Option<Placement> {
        let mut laid = Placement::NONE;
        for (position, kind) in placement.iter() {
            let key = self.key(position.edge);
            let side = position.side;
            if !self.edges_of(key)?.iter().all(|&edge| placement.get(edge, side) == Some(kind)) {
                return None;
            }
            for edge in other.edges_of(key)? {
                laid.insert(Position { edge, side }, kind);
            }
        }
        Some(laid)
    }

    /// This program as an instance of another of the same text, which has two threads of each family: nothing if an
    /// operation that fences may stand beside is not found there.
    pub fn instance_of(&self, open: &Self, families: &[String]) -> Option<Instance> {
        let origin = |edge: EdgeId| match self.edges[edge].op.is_local() {
            // No store waits for a local step.
            true => open.edges.indices().find(|&it| open.key(it) == self.key(edge)).or(Some(EdgeId::from_usize(0))),
            false => open.edges_of(self.key(edge))?.first().copied(),
        };
        let origins = self.edges.indices().map(origin).collect::<Option<IndexVec<EdgeId, EdgeId>>>()?;
        let of_families = self.templates.iter_enumerated().filter(|(_, it)| families.contains(&it.name));
        let copies = of_families.map(|(id, _)| (id, self.instances(id).count())).collect();
        let program = Self { indexed: None, memo: Memo::default(), ..self.clone() };
        Some(Instance::made_of(program, copies, origins))
    }

    /// The index of a process of a family.
    pub fn index_of(&self, process: ProcessId, families: &[String]) -> Option<usize> {
        let template = self.processes[process].template;
        let is_family = families.contains(&self.templates[template].name);
        debug_assert!(self.templates[template].copies == Copies::Listed, "threads with an index are listed");
        is_family.then(|| self.instances(template).position(|it| it == process))?
    }

    /// The indices that a situation is about: of threads that it names, and of cells that it looks at.
    pub fn indices_of(&self, situation: &Situation, indexed: &Indexed) -> BTreeSet<usize> {
        let named = situation.at.iter().map(|it| it.0);
        let mut all: BTreeSet<usize> = named.filter_map(|it| self.index_of(it, &indexed.families)).collect();
        let arrays = || self.arrays.iter().filter(|it| indexed.arrays.contains(&it.name));
        situation.condition.for_each_var(&mut |variable| match *variable {
            StateVar::Register(process, _) => all.extend(self.index_of(process, &indexed.families)),
            StateVar::Memory(x) => all.extend(arrays().filter_map(|it| it.cells().position(|cell| cell == x))),
        });
        all
    }

    /// What any thread of a family may write besides its own cells: some other thread may do so whenever one does, in
    /// whichever place. Of cells that only their threads write, those of threads that are not told apart.
    pub fn shared_by(&self, indexed: &Indexed) -> BTreeSet<LocationId> {
        let writers = |x: LocationId| {
            let edges = self.edges.iter().filter(move |edge| self.may_write(&edge.op, x));
            edges.filter_map(|edge| self.index_of(edge.process, &indexed.families))
        };
        let mut shared = BTreeSet::new();
        let mut cells = BTreeSet::new();
        for array in self.arrays.iter().filter(|it| indexed.arrays.contains(&it.name)) {
            let is_own = array.cells().enumerate().all(|(index, x)| writers(x).all(|writer| writer == index));
            let of_others = array.cells().enumerate().filter(|(index, _)| !is_own || index % 2 == 0);
            shared.extend(of_others.map(|it| it.1));
            cells.extend(array.cells());
        }
        let others = self.locations.indices().filter(|x| !cells.contains(x));
        shared.extend(others.filter(|&x| writers(x).next().is_some()));
        shared
    }
}
