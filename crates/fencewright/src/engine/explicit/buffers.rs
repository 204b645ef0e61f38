//! Store buffers, interned: a word names all that a process has pending.
//!
//! Under TSO the contents are the FIFO. Under PSO they are kept as *epochs* between store-store markers, each sorted by
//! location, which is all that PSO distinguishes:
//!
//! ```text
//!    FIFO of x:  1 ★ 2            ⟨x1 y3 │ x2⟩
//!    FIFO of y:  3 ★
//! ```
//!
//! A marker with nothing before it is oldest in all FIFOs and leaves at once, and a marker behind a marker adds
//! nothing; both are dropped here. The engine `coherence` keeps less of them ([`Segments`]). What each buffer can do is
//! computed once per thread and kept.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, RwLock};

use crate::engine::coherence::{Coherent, Label, Segments};
use crate::engine::explicit::FastMap;
use crate::memory::{Buffering, Pending};
use crate::program::{LocationId, Value};

/// An interned buffer; 0 is the empty one.
pub type BufferId = u32;

/// The empty buffer.
pub const EMPTY: BufferId = 0;

/// How stores leave a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Discipline {
    /// In the order they came (TSO).
    Fifo,
    /// In order by location, and across locations only where a marker says so (PSO).
    PerLocation,
}

/// What waits for a process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Waiting {
    /// These stores and markers, oldest first.
    Exact(Discipline, Vec<Pending>),
    /// What the abstraction keeps of them.
    Abstract(Coherent, Segments),
}

impl Waiting {
    /// Nothing, under the semantics.
    pub const fn nothing(buffering: Buffering) -> Self {
        match buffering {
            Buffering::None | Buffering::Fifo => Self::Exact(Discipline::Fifo, Vec::new()),
            Buffering::PerLocation(_) => Self::Exact(Discipline::PerLocation, Vec::new()),
        }
    }

    fn with_store(&self, (x, value): Stored, label: Label) -> Self {
        match self {
            Self::Exact(discipline, contents) => Self::Exact(*discipline, with_store(*discipline, contents, x, value)),
            Self::Abstract(rules, segments) => Self::Abstract(*rules, segments.with_store(x, (value, label), *rules)),
        }
    }

    fn with_marker(&self) -> Self {
        match self {
            Self::Exact(discipline, contents) => Self::Exact(*discipline, with_marker(contents)),
            Self::Abstract(rules, segments) => Self::Abstract(*rules, segments.with_marker(*rules)),
        }
    }

    fn flushes(&self) -> Vec<Leaving<Self>> {
        match self {
            Self::Exact(discipline, contents) => {
                let exact = |(x, value, rest)| (Some((x, value)), Self::Exact(*discipline, rest));
                let all = flushes(*discipline, contents).into_iter().map(exact);
                all.map(|(store, rest)| Leaving { store, rest }).collect()
            }
            Self::Abstract(rules, segments) => {
                let all = segments.flushes(*rules).into_iter();
                all.map(|it| Leaving { store: it.store, rest: Self::Abstract(*rules, it.rest) }).collect()
            }
        }
    }

    /// The newest store to each location that has one.
    fn newest(&self) -> Vec<Stored> {
        match self {
            Self::Exact(_, contents) => newest(contents),
            Self::Abstract(_, segments) => segments.newest(),
        }
    }

    fn n_markers(&self) -> usize {
        match self {
            Self::Exact(_, contents) => contents.iter().filter(|pending| **pending == Pending::Marker).count(),
            Self::Abstract(_, segments) => segments.n_markers(),
        }
    }

    /// How many stores there are; 0 if that is not kept.
    fn n_stores(&self) -> usize {
        match self {
            Self::Exact(_, contents) => contents.len() - self.n_markers(),
            Self::Abstract(..) => 0,
        }
    }
}

/// The buffers of all threads.
#[derive(Debug)]
pub struct BufferTable {
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    contents: Vec<Arc<Waiting>>,
    ids: FastMap<Arc<Waiting>, BufferId>,
}

impl BufferTable {
    /// Only the empty buffer is known.
    pub fn new(empty: Waiting) -> Self {
        let table = Self { known: RwLock::default() };
        table.intern(empty);
        table
    }

    /// The id of a buffer with these contents.
    pub fn intern(&self, contents: Waiting) -> BufferId {
        let contents = Arc::new(contents);
        if let Some(&id) = self.known.read().expect("no thread panics while it interns").ids.get(&contents) {
            return id;
        }
        let mut known = self.known.write().expect("no thread panics while it interns");
        if let Some(&id) = known.ids.get(&contents) {
            return id;
        }
        let id = u32::try_from(known.contents.len()).expect("fewer than 2^32 buffers");
        known.contents.push(contents.clone());
        known.ids.insert(contents, id);
        id
    }

    /// What a buffer holds.
    pub fn contents(&self, id: BufferId) -> Arc<Waiting> {
        self.known.read().expect("no thread panics while it interns").contents[id as usize].clone()
    }

    /// How many buffers are known.
    pub fn len(&self) -> usize {
        self.known.read().expect("no thread panics while it interns").contents.len()
    }

    /// The bytes of the table, roughly.
    pub fn bytes(&self) -> u64 {
        let known = self.known.read().expect("no thread panics while it interns");
        (known.contents.len() * 128) as u64
    }
}

/// What a buffer can do.
#[derive(Debug)]
pub struct BufferNode {
    /// How many stores it holds; 0 if that is not kept.
    pub n_stores: u32,
    /// The newest store to each location that has one.
    newest: Box<[Stored]>,
    /// What can leave, and the buffer without it.
    pub flushes: Box<[Leaving<BufferId>]>,
    has_marker: bool,
    pushes: RefCell<Vec<(LocationId, Value, Label, BufferId)>>,
    marked: Cell<Option<BufferId>>,
}

/// A location, and the value that is stored there.
pub type Stored = (LocationId, Value);

/// Something that a buffer can do on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving<B> {
    /// What goes to memory; nothing where only what is known of the buffer changes.
    pub store: Option<Stored>,
    /// What remains.
    pub rest: B,
}

impl BufferNode {
    /// The value that the process sees of a location, if its buffer has one.
    #[inline]
    pub fn newest(&self, x: LocationId) -> Option<Value> {
        self.newest.iter().find(|newest| newest.0 == x).map(|newest| newest.1)
    }

    /// Whether nothing stands before an atomic update of `x` that waits for its own location.
    pub fn is_drained_of(&self, x: LocationId) -> bool {
        !self.has_marker && self.newest(x).is_none()
    }
}

/// The buffers that one thread has looked at.
#[derive(Debug)]
pub struct Buffers<'a> {
    table: &'a BufferTable,
    nodes: Vec<Option<Rc<BufferNode>>>,
}

impl<'a> Buffers<'a> {
    /// Nothing is known yet.
    pub fn new(table: &'a BufferTable) -> Self {
        Self { table, nodes: Vec::new() }
    }

    /// What a buffer can do.
    #[inline]
    pub fn node(&mut self, id: BufferId) -> Rc<BufferNode> {
        match self.nodes.get(id as usize) {
            Some(Some(node)) => Rc::clone(node),
            Some(None) | None => self.make_node(id),
        }
    }

    /// The buffer with one more store.
    pub fn push(&self, id: BufferId, node: &BufferNode, (x, value): Stored, label: Label) -> BufferId {
        let is_same = |push: &&(LocationId, Value, Label, BufferId)| (push.0, push.1, push.2) == (x, value, label);
        let known = node.pushes.borrow().iter().find(is_same).map(|push| push.3);
        known.unwrap_or_else(|| {
            let longer = self.table.intern(self.table.contents(id).with_store((x, value), label));
            node.pushes.borrow_mut().push((x, value, label, longer));
            longer
        })
    }

    /// The buffer with a store-store marker behind what it holds.
    pub fn mark(&self, id: BufferId, node: &BufferNode) -> BufferId {
        node.marked.get().unwrap_or_else(|| {
            let marked = self.table.intern(self.table.contents(id).with_marker());
            node.marked.set(Some(marked));
            marked
        })
    }

    #[cold]
    fn make_node(&mut self, id: BufferId) -> Rc<BufferNode> {
        let contents = self.table.contents(id);
        let flushes = contents.flushes().into_iter();
        let node = Rc::new(BufferNode {
            n_stores: u32::try_from(contents.n_stores()).expect("fewer than 2^32 stores"),
            newest: contents.newest().into(),
            flushes: flushes.map(|it| Leaving { store: it.store, rest: self.table.intern(it.rest) }).collect(),
            has_marker: contents.n_markers() > 0,
            pushes: RefCell::default(),
            marked: Cell::new(None),
        });
        if self.nodes.len() <= id as usize {
            self.nodes.resize(id as usize + 1, None);
        }
        self.nodes[id as usize] = Some(Rc::clone(&node));
        node
    }
}

fn newest(contents: &[Pending]) -> Vec<Stored> {
    let mut newest: Vec<Stored> = Vec::new();
    for pending in contents.iter().rev() {
        if let &Pending::Store(x, value) = pending
            && newest.iter().all(|known| known.0 != x)
        {
            newest.push((x, value));
        }
    }
    newest
}

fn with_store(discipline: Discipline, contents: &[Pending], x: LocationId, value: Value) -> Vec<Pending> {
    let mut longer = contents.to_vec();
    let at = match discipline {
        Discipline::Fifo => longer.len(),
        Discipline::PerLocation => {
            let epoch = longer.iter().rposition(|pending| *pending == Pending::Marker).map_or(0, |marker| marker + 1);
            let is_before = |pending: &Pending| match pending {
                Pending::Store(y, _) => *y <= x,
                Pending::Marker => true,
            };
            epoch + longer[epoch..].partition_point(is_before)
        }
    };
    longer.insert(at, Pending::Store(x, value));
    longer
}

fn with_marker(contents: &[Pending]) -> Vec<Pending> {
    let mut marked = contents.to_vec();
    if marked.last().is_some_and(|last| *last != Pending::Marker) {
        marked.push(Pending::Marker);
    }
    marked
}

/// What can leave, and what remains.
fn flushes(discipline: Discipline, contents: &[Pending]) -> Vec<(LocationId, Value, Vec<Pending>)> {
    let n_candidates = match discipline {
        Discipline::Fifo => contents.len().min(1),
        Discipline::PerLocation => {
            contents.iter().position(|pending| *pending == Pending::Marker).unwrap_or(contents.len())
        }
    };
    let mut out: Vec<(LocationId, Value, Vec<Pending>)> = Vec::new();
    for (i, pending) in contents[..n_candidates].iter().enumerate() {
        let &Pending::Store(x, value) = pending else { continue };
        if out.last().is_some_and(|last| last.0 == x) {
            continue;
        }
        let mut rest = contents.to_vec();
        rest.remove(i);
        if rest.first() == Some(&Pending::Marker) {
            rest.remove(0);
        }
        out.push((x, value, rest));
    }
    out
}
