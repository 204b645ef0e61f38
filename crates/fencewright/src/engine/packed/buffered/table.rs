//! Store buffers, interned: a word names all that a process has pending. What each can do is computed once per thread
//! and kept.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use crate::engine::packed::buffered::{Label, Leaving, Rules};
use crate::engine::packed::component::Stored;
use crate::engine::packed::interner::Interner;
use crate::program::{LocationId, Value};
use crate::watch::note_work;

/// An interned buffer; 0 is the empty one.
pub(crate) type BufferId = u32;

/// What a store or value in a buffer takes, where it waits and where it is the newest.
const BYTES_OF_PART: u64 = 32;

/// What a buffer takes that may not be known, for [`note_work`], beside what is in it.
const WORK_OF_BUFFER: u32 = 4;

/// The empty buffer.
pub(super) const EMPTY: BufferId = 0;

/// The buffers of all threads.
#[derive(Debug)]
pub(super) struct BufferTable<R: Rules> {
    rules: R,
    known: Interner<R::Waiting>,
}

/// The buffers that one thread has looked at.
#[derive(Debug, Default)]
pub(super) struct Nodes(Vec<Option<Rc<BufferNode>>>);

/// What a buffer can do.
#[derive(Debug)]
pub(super) struct BufferNode {
    /// How many stores it holds; 0 if that is not kept.
    pub n_stores: u32,
    /// The newest store to each location that has one.
    newest: Box<[Stored]>,
    /// What can leave, and the buffer without it.
    pub flushes: Box<[Leaving<BufferId>]>,
    has_marker: bool,
    pushes: RefCell<Vec<(Stored, Label, BufferId)>>,
    marked: Cell<Option<BufferId>>,
}

impl BufferNode {
    /// The value that the process sees of a location, if its buffer has one.
    #[inline]
    pub(super) fn newest(&self, x: LocationId) -> Option<Value> {
        self.newest.iter().find(|newest| newest.0 == x).map(|newest| newest.1)
    }

    /// Whether nothing stands before an atomic update of `x` that waits for its own location.
    pub(super) fn is_drained_of(&self, x: LocationId) -> bool {
        !self.has_marker && self.newest(x).is_none()
    }
}

impl<R: Rules> BufferTable<R> {
    /// Only the empty buffer is known.
    pub(super) fn new(rules: R) -> Self {
        let known = Interner::new();
        known.intern(rules.nothing(), 0);
        Self { rules, known }
    }

    /// What waits.
    pub(super) fn rules(&self) -> &R {
        &self.rules
    }

    /// The buffer in which this waits.
    pub(super) fn intern(&self, waiting: R::Waiting) -> BufferId {
        let n_parts = self.rules.n_parts(&waiting);
        note_work(WORK_OF_BUFFER + u32::try_from(n_parts).unwrap_or(u32::MAX - WORK_OF_BUFFER));
        self.known.intern(waiting, n_parts)
    }

    /// What waits in a buffer.
    pub(super) fn waiting(&self, id: BufferId) -> Arc<R::Waiting> {
        self.known.get(id)
    }

    /// How many buffers are known.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// The bytes of the table, roughly.
    pub(super) fn bytes(&self) -> u64 {
        (self.len() * 128) as u64 + self.known.n_parts() * BYTES_OF_PART
    }

    /// What a buffer can do.
    #[inline]
    pub(super) fn node(&self, nodes: &mut Nodes, id: BufferId) -> Rc<BufferNode> {
        match nodes.0.get(id as usize) {
            Some(Some(node)) => Rc::clone(node),
            Some(None) | None => self.make_node(nodes, id),
        }
    }

    /// The buffer with one more store.
    pub(super) fn push(&self, id: BufferId, node: &BufferNode, stored: Stored, label: Label) -> BufferId {
        let is_same = |push: &&(Stored, Label, BufferId)| (push.0, push.1) == (stored, label);
        let known = node.pushes.borrow().iter().find(is_same).map(|push| push.2);
        known.unwrap_or_else(|| {
            let longer = self.intern(self.rules.with_store(&self.waiting(id), stored, label));
            node.pushes.borrow_mut().push((stored, label, longer));
            longer
        })
    }

    /// The buffer with a store-store marker behind what it holds.
    pub(super) fn mark(&self, id: BufferId, node: &BufferNode) -> BufferId {
        node.marked.get().unwrap_or_else(|| {
            let marked = self.intern(self.rules.with_marker(&self.waiting(id)));
            node.marked.set(Some(marked));
            marked
        })
    }

    #[cold]
    fn make_node(&self, nodes: &mut Nodes, id: BufferId) -> Rc<BufferNode> {
        let waiting = self.waiting(id);
        let flushes = self.rules.flushes(&waiting).into_iter();
        let node = Rc::new(BufferNode {
            n_stores: u32::try_from(self.rules.n_stores(&waiting)).expect("fewer than 2^32 stores"),
            newest: self.rules.newest(&waiting).into(),
            flushes: flushes.map(|it| Leaving { store: it.store, rest: self.intern(it.rest) }).collect(),
            has_marker: self.rules.has_marker(&waiting),
            pushes: RefCell::default(),
            marked: Cell::new(None),
        });
        if nodes.0.len() <= id as usize {
            nodes.0.resize(id as usize + 1, None);
        }
        nodes.0[id as usize] = Some(Rc::clone(&node));
        node
    }
}
