//! Memory as messages: what the machines of release/acquire have in common.
//!
//! Every store is a *message* with the *view* of its writer: for each location, how far that knew. A read takes over
//! the view of what it reads, and never goes back behind its own.
//!
//! ```text
//!    x:  [0] ── [1] ── [2]        P may read x from here on: its view of x
//!         ▲forgotten    ▲ last
//! ```
//!
//! A message that no thread can read any more is forgotten and the others are renumbered, so that states that differ in
//! nothing that can matter are one. How many were forgotten is kept for those who are shown a run, and is no part of
//! the state.
//!
//! What accesses with other orders than release and acquire are here is in [`orders`](super::orders).

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::orders::{Sequential, sequential, taken};
use crate::memory::{Access, Act, Done, Event, Execution, Origin, Rc11, Shown, Update, Write};
use crate::program::{EdgeId, FenceKind, LocationId, Op, Order, ProcessId, Program, PropertyKind, Value};
use crate::util::Idx;

/// For each location, the oldest message that may still be read.
type View = Vec<u32>;

/// Messages to each location, in modification order, and the views of all threads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Messages {
    messages: Vec<Vec<Message>>,
    views: Vec<View>,
    /// A seq_cst fence is an update of one location that nobody else knows; all that matters of it is its last view.
    fenced: View,
    forgotten: Forgotten,
    /// Which locations have seq_cst accesses; the same for all states.
    sequential: Arc<[Sequential]>,
    /// All that has happened, where some location has seq_cst accesses and others.
    graph: Option<Box<Execution>>,
}

/// A store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Message {
    value: Value,
    view: View,
    /// Nothing may come between it and the one before: it is an update of that.
    is_glued: bool,
}

/// How many messages to each location were forgotten. All are equal: no future depends on it.
#[derive(Clone, Debug)]
struct Forgotten(Vec<u32>);

impl PartialEq for Forgotten {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Forgotten {}

impl Hash for Forgotten {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

fn join(view: &mut View, other: &View) {
    view.iter_mut().zip(other).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
}

/// The number of a message.
fn number(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than 2^32 messages")
}

impl Messages {
    /// One message to each location, which all threads may read.
    pub(super) fn new(contents: &[Value], n_processes: usize) -> Self {
        let zero = vec![0; contents.len()];
        let first = |&value: &Value| vec![Message { value, view: zero.clone(), is_glued: false }];
        Self {
            messages: contents.iter().map(first).collect(),
            views: vec![zero.clone(); n_processes],
            forgotten: Forgotten(zero.clone()),
            sequential: vec![Sequential::Never; contents.len()].into(),
            graph: None,
            fenced: zero,
        }
    }

    /// The same for a program, which may have seq_cst accesses.
    pub(super) fn of(program: &Program, contents: &[Value]) -> Self {
        let n_processes = program.processes().len();
        let sequential: Arc<[Sequential]> = sequential(program).iter().copied().collect();
        let graph = sequential.contains(&Sequential::Sometimes);
        let graph = graph.then(|| Box::new(Execution::new(contents.to_vec(), n_processes)));
        Self { sequential, graph, ..Self::new(contents, n_processes) }
    }

    /// Whether a location has an order of its own: who accesses it acts on its last message.
    pub(super) fn is_ordered(&self, x: LocationId) -> bool {
        self.sequential[x.index()] == Sequential::Always
    }

    /// Of the ways of an access, those that RC11 allows, where that has to be asked.
    pub(super) fn allowed(&self, p: ProcessId, access: Access<'_>, ways: Vec<Done<Self>>) -> Vec<Done<Self>> {
        let Some(graph) = &self.graph else { return ways };
        let allowed = |mut done: Done<Self>| {
            let Some((event, after)) = event(graph, access, &done) else { return Some(done) };
            let next = graph.with(p, event, after);
            let is_allowed = Rc11::default().axioms(&next).is_consistent();
            done.state.graph = Some(Box::new(next));
            is_allowed.then_some(done)
        };
        ways.into_iter().filter_map(allowed).collect()
    }

    /// The messages that a thread may read.
    pub(super) fn readable(&self, p: ProcessId, x: LocationId) -> Range<usize> {
        let first = if self.is_ordered(x) { self.last(x) } else { self.views[p.index()][x.index()] as usize };
        first..self.messages[x.index()].len()
    }

    /// The last message in modification order.
    pub(super) fn last(&self, x: LocationId) -> usize {
        self.messages[x.index()].len() - 1
    }

    /// Whether something may come right behind a message.
    pub(super) fn is_open(&self, x: LocationId, at: usize) -> bool {
        self.messages[x.index()].get(at + 1).is_none_or(|next| !next.is_glued)
    }

    /// The value of a message.
    pub(super) fn value(&self, x: LocationId, at: usize) -> Value {
        self.messages[x.index()][at].value
    }

    /// A way to read.
    pub(super) fn read(&self, p: ProcessId, x: LocationId, at: usize) -> Done<Self> {
        let mut state = self.clone();
        state.learn(p, x, at);
        self.done(Some(self.value(x, at)), x, at, state)
    }

    /// A way to write: right behind a message.
    pub(super) fn write(&self, p: ProcessId, x: LocationId, behind: usize, value: Value) -> Done<Self> {
        let mut state = self.clone();
        state.insert(p, x, behind, Message { value, view: View::new(), is_glued: false });
        self.done(None, x, behind + 1, state)
    }

    /// All ways of an update that may write right behind these messages.
    pub(super) fn updates(
        &self,
        p: ProcessId,
        x: LocationId,
        update: Update<'_>,
        may_follow: impl Fn(usize) -> bool,
    ) -> Vec<Done<Self>> {
        let way = |at: usize| {
            let old = self.value(x, at);
            match update(old)? {
                None => Some(self.read(p, x, at)),
                Some(_) if !may_follow(at) => None,
                Some(value) => {
                    let mut state = self.clone();
                    state.learn(p, x, at);
                    state.insert(p, x, at, Message { value, view: View::new(), is_glued: true });
                    Some(self.done(Some(old), x, at, state))
                }
            }
        };
        self.readable(p, x).filter_map(way).collect()
    }

    /// Passes a fence. Only those of seq_cst tell more than release/acquire accesses do by themselves.
    pub(super) fn fence(&self, p: ProcessId, kind: FenceKind, order: Order) -> Vec<Done<Self>> {
        let mut state = self.clone();
        if order.of_fence(kind) == Some(Order::SeqCst) {
            join(&mut state.fenced, &self.views[p.index()]);
            state.views[p.index()].clone_from(&state.fenced);
        }
        Done::nothing(state.settled())
    }

    /// What a thread knows.
    pub(super) fn shown(&self, p: ProcessId) -> Shown {
        let newest = |(x, &at): (usize, &u32)| {
            let x = LocationId::from_usize(x);
            (x, self.forgotten.0[x.index()] + at, self.value(x, at as usize))
        };
        Shown::View(self.views[p.index()].iter().enumerate().map(newest).collect())
    }

    fn learn(&mut self, p: ProcessId, x: LocationId, at: usize) {
        join(&mut self.views[p.index()], &self.messages[x.index()][at].view);
    }

    /// Puts a message behind another one; those behind it move up.
    fn insert(&mut self, p: ProcessId, x: LocationId, behind: usize, mut message: Message) {
        let (x, at) = (x.index(), number(behind + 1));
        let of_messages = self.messages.iter_mut().flatten().map(|message| &mut message.view);
        let views = of_messages.chain(&mut self.views).chain([&mut self.fenced]);
        views.for_each(|view| view[x] += u32::from(view[x] >= at));
        self.views[p.index()][x] = at;
        message.view.clone_from(&self.views[p.index()]);
        self.messages[x].insert(behind + 1, message);
    }

    fn done(&self, read: Option<Value>, x: LocationId, at: usize, state: Self) -> Done<Self> {
        let origin = Origin::Message(self.forgotten.0[x.index()] + number(at));
        Done { read, origin, state: state.settled() }
    }

    /// Without the messages that nobody can read any more.
    fn settled(mut self) -> Self {
        for x in 0..self.messages.len() {
            let base = self.views.iter().map(|view| view[x]).min().unwrap_or(0);
            if base == 0 {
                continue;
            }
            self.messages[x].drain(..base as usize);
            self.messages[x][0].is_glued = false;
            self.forgotten.0[x] += base;
            let of_messages = self.messages.iter_mut().flatten().map(|message| &mut message.view);
            let views = of_messages.chain(&mut self.views).chain([&mut self.fenced]);
            views.for_each(|view| view[x] = view[x].saturating_sub(base));
        }
        self
    }
}

/// What happens in a graph with a way of an access, and behind which write; nothing for what is no event. What is not
/// seq_cst is release and acquire here, whatever fences make it so.
fn event(graph: &Execution, access: Access<'_>, done: &Done<Messages>) -> Option<(Event, Write)> {
    let at = match done.origin {
        Origin::Message(number) => number as usize,
        Origin::Memory | Origin::OwnBuffer => 0,
    };
    let write = |x: LocationId, at: usize| graph.all_writes(x).nth(at).flatten();
    let is = |order: Order| if order == Order::SeqCst { order } else { Order::AcqRel };
    Some(match access {
        Access::Load(x, order) => (Event { act: Act::Read(x, write(x, at)), order: is(order).of_read() }, None),
        Access::Store(x, value, order) => {
            (Event { act: Act::Write(x, value), order: is(order).of_write() }, write(x, at.saturating_sub(1)))
        }
        Access::Update(x, update, order) => {
            let source = write(x, at);
            match update(done.read?)? {
                Some(new) => (Event { act: Act::Update(x, source, new), order: is(order) }, source),
                None => (Event { act: Act::Read(x, source), order: is(order).of_read() }, None),
            }
        }
        Access::Fence(kind, order) => {
            let order = order.of_fence(kind).filter(|it| *it == Order::SeqCst)?;
            (Event { act: Act::Fence, order }, None)
        }
    })
}

/// Why release/acquire has no meaning for a program, if it has none.
pub(super) fn refused(program: &Program) -> Option<String> {
    let of_edge = program.edges().indices().find_map(|edge| {
        let what = unknown_to(program, edge)?;
        Some(format!("{what} ({})", program.source().line_name(program.edges()[edge].span)))
    });
    of_edge.or_else(|| program.properties().iter().find_map(|property| not_asked(property.kind)))
}

/// What release/acquire does not know of an edge.
fn unknown_to(program: &Program, edge: EdgeId) -> Option<String> {
    let order = taken(program, edge);
    let is_known = match &program.edges()[edge].op {
        Op::Locked(_) => return Some("release/acquire has no `atomic` blocks but single updates".to_owned()),
        Op::Load(..) | Op::Rmw { write: None, .. } => {
            matches!(order, Order::Plain | Order::Acquire | Order::SeqCst)
        }
        Op::Store(..) => matches!(order, Order::Plain | Order::Release | Order::SeqCst),
        Op::Rmw { write: Some(_), .. } => matches!(order, Order::AcqRel | Order::SeqCst),
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Fence(_) => true,
    };
    let is_update = matches!(program.edges()[edge].op, Op::Rmw { write: Some(_), .. });
    let (what, wanted) = if is_update { ("an update", "`acq_rel`") } else { ("an access", "release/acquire") };
    (!is_known).then(|| format!("{what} is `{}`, not {wanted}, which `--model rc11` takes", order.name()))
}

fn not_asked(kind: PropertyKind) -> Option<String> {
    let what = match kind {
        PropertyKind::Control | PropertyKind::Invariant | PropertyKind::Final => return None,
        PropertyKind::Hang | PropertyKind::Race => return None,
        PropertyKind::Robust | PropertyKind::Trace => "robustness is",
    };
    Some(format!("{what} not decided for release/acquire"))
}
