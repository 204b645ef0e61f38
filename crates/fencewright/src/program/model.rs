//! Shared locations, processes, edges.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::index_type;
use crate::program::{
    Expr, Indexed, Misuse, NoHang, OperationId, Order, Property, PropertyId, StateVar, Template, TemplateId,
};
use crate::source::{Source, Span};
use crate::util::{Idx, IndexVec, Memo};

/// A value of a location or register. Booleans are 0 and 1.
pub type Value = i64;

index_type!(
    /// A shared location.
    pub LocationId
);
index_type!(
    /// A shared array.
    pub ArrayId
);
index_type!(
    /// A process.
    pub ProcessId
);
index_type!(
    /// A register, counted within its process.
    pub RegisterId
);
index_type!(
    /// A control point, counted over the whole program.
    pub PointId
);
index_type!(
    /// An edge, counted over the whole program; the same before and after repair.
    pub EdgeId
);

/// A set of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Domain {
    /// 0 and 1, shown as `false` and `true`.
    Bool,
    /// `lo..hi`, both included; `lo <= hi`.
    Range(Value, Value),
    /// All integers.
    Int,
}

impl Domain {
    /// The least and the greatest value, if there are such.
    pub fn bounds(self) -> Option<(Value, Value)> {
        match self {
            Self::Bool => Some((0, 1)),
            Self::Range(lo, hi) => Some((lo, hi)),
            Self::Int => None,
        }
    }

    /// Whether the value is in the set.
    pub fn contains(self, value: Value) -> bool {
        self.bounds().is_none_or(|(lo, hi)| lo <= value && value <= hi)
    }

    /// How many values there are, if finitely many.
    pub fn size(self) -> Option<u64> {
        self.bounds().map(|(lo, hi)| hi.abs_diff(lo).saturating_add(1))
    }
}

/// What a location or register holds at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Initial {
    /// This value.
    Value(Value),
    /// Any value of the domain.
    Any,
}

/// A shared location.
#[derive(Clone, Debug)]
pub struct Location {
    /// Its name, with the index for an array cell: `flag[0]`.
    pub name: String,
    /// The values it may hold.
    pub domain: Domain,
    /// What it holds at the start; in the domain.
    pub initial: Initial,
    /// Where it is declared.
    pub span: Span,
}

/// A shared array: a run of locations with one domain.
#[derive(Clone, Debug)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// The location of cell 0.
    pub first: LocationId,
    /// How many cells; at least one.
    pub len: u32,
    /// How many in each dimension; the last index counts fastest, and their product is the number of cells.
    pub shape: Vec<u32>,
}

impl Array {
    /// The location of a cell, unless the index is outside the array.
    pub fn cell(&self, index: Value) -> Option<LocationId> {
        let index = usize::try_from(index).ok().filter(|&index| index < self.len as usize)?;
        Some(LocationId::from_usize(self.first.index() + index))
    }

    /// The locations of all cells.
    pub fn cells(&self) -> impl Iterator<Item = LocationId> + use<> {
        (self.first.index()..self.first.index() + self.len as usize).map(LocationId::from_usize)
    }
}

/// A register of a process.
#[derive(Clone, Debug)]
pub struct Register {
    /// Its name; a name that starts with `$` was made by lowering and has no place in the text.
    pub name: String,
    /// The values it may hold.
    pub domain: Domain,
    /// What it holds at the start; in the domain.
    pub initial: Initial,
    /// Where it is declared.
    pub span: Span,
}

/// A process: a control-flow automaton with registers.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its name, with its arguments for a member of a family: `P(0)`.
    pub name: String,
    /// The thread of the text that it is an instance of.
    pub template: TemplateId,
    /// Where it starts.
    pub entry: PointId,
    /// Its registers.
    pub registers: IndexVec<RegisterId, Register>,
    /// The functions that registers are declared in, where these were inlined.
    pub scopes: BTreeMap<RegisterId, String>,
    /// Where it is declared.
    pub span: Span,
}

impl Process {
    /// The name of a register, behind that of the function that it is declared in.
    pub fn scoped_name(&self, register: RegisterId) -> String {
        let name = &self.registers[register].name;
        self.scopes.get(&register).map_or_else(|| name.clone(), |scope| format!("{scope}.{name}"))
    }
}

/// A call whose function was inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// The function.
    pub function: String,
    /// Where it is called.
    pub span: Span,
    /// The call in which it is called, if it is in one.
    pub within: Option<Arc<Self>>,
}

/// A control point of a process.
#[derive(Clone, Debug)]
pub struct Point {
    /// Whose it is.
    pub process: ProcessId,
    /// The labels that name it.
    pub labels: Vec<String>,
    /// The edges that leave it, in order.
    pub edges: Vec<EdgeId>,
    /// Whether the process has terminated here. Then no edge leaves it; a point without edges that is not an end is
    /// one where the process is stuck.
    pub is_end: bool,
}

/// An edge: one operation of a process.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Whose it is.
    pub process: ProcessId,
    /// Where it starts.
    pub from: PointId,
    /// Where it leads.
    pub to: PointId,
    /// What it does.
    pub op: Op,
    /// The order of what it does to memory.
    pub order: Order,
    /// Where it stands in the text. Copies of one place (members of a family, unrolled or inlined code) share it.
    pub span: Span,
    /// The operation of the text that it is a copy of.
    pub operation: OperationId,
    /// The call that it comes from, if it stands in a function.
    pub call: Option<Arc<Called>>,
    /// What comes to be here, without being written ([`Program::with_allocations`]).
    pub allocates: Option<Place>,
}

/// Where an operation acts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// This location.
    Fixed(LocationId),
    /// The cell of an array that the index says; outside the array it is a violation.
    Cell(ArrayId, Expr<RegisterId>),
}

/// A variable in the guard and new value of an atomic update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RmwVar {
    /// The value found in memory.
    Old,
    /// A register, as it was before.
    Register(RegisterId),
}

/// A fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FenceKind {
    /// Orders stores before later stores; does not wait.
    StoreStore,
    /// Waits until the process's buffers are empty.
    Full,
}

impl FenceKind {
    /// All of them, from the weakest to the strongest.
    pub const ALL: [Self; 2] = [Self::StoreStore, Self::Full];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::StoreStore => "store-store",
            Self::Full => "full",
        }
    }

    /// The kind with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The operation of an edge (`semantics.md`, "Programs").
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Blocks unless the condition holds.
    Assume(Expr<RegisterId>),
    /// A violation unless the condition holds.
    Assert(Expr<RegisterId>),
    /// `r := e`; a value outside the register's domain is a violation.
    Assign(RegisterId, Expr<RegisterId>),
    /// `r := any` value from `lo` to `hi`; in the register's domain.
    Havoc(RegisterId, Value, Value),
    /// `load r, x`
    Load(RegisterId, Place),
    /// `store x, e`; a value outside the location's domain is a violation.
    Store(Place, Expr<RegisterId>),
    /// Atomic read-modify-write: blocks unless `guard` holds of the old value.
    Rmw {
        /// Where.
        place: Place,
        /// When it is enabled.
        guard: Expr<RmwVar>,
        /// What it writes, if it writes.
        write: Option<Expr<RmwVar>>,
        /// Where the old value goes.
        into: Option<RegisterId>,
    },
    /// A fence.
    Fence(FenceKind),
    /// A block executed in one step against memory. Not enabled on paths where an `Assume` of it does not hold.
    Locked(Vec<Micro>),
}

impl Op {
    /// Whether it touches only the registers of its process.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Assume(_) | Self::Assert(_) | Self::Assign(..) | Self::Havoc(..) => true,
            Self::Load(..) | Self::Store(..) | Self::Rmw { .. } | Self::Fence(_) | Self::Locked(_) => false,
        }
    }
}

impl Edge {
    /// Whether it is a fence of the language that takes no fence of a machine.
    pub fn is_acquire_fence(&self) -> bool {
        matches!(self.op, Op::Assume(_)) && self.order == Order::Acquire
    }

    /// The order of a fence of the language; `None` for what is no such fence.
    pub fn fence_order(&self) -> Option<Order> {
        if let Op::Fence(kind) = self.op {
            return self.order.of_fence(kind);
        }
        self.is_acquire_fence().then_some(Order::Acquire)
    }
}

impl Op {
    /// Whether it may fail an assertion.
    pub fn has_assertion(&self) -> bool {
        match self {
            Self::Assert(_) => true,
            Self::Locked(body) => body.iter().any(Micro::has_assertion),
            Self::Assume(_) | Self::Assign(..) | Self::Havoc(..) | Self::Load(..) | Self::Store(..) => false,
            Self::Rmw { .. } | Self::Fence(_) => false,
        }
    }

    /// The same with assumptions for assertions.
    fn assumed(&self) -> Self {
        match self {
            Self::Assert(condition) => Self::Assume(condition.clone()),
            Self::Locked(body) => Self::Locked(body.iter().map(Micro::assumed).collect()),
            Self::Assume(_) | Self::Assign(..) | Self::Havoc(..) | Self::Load(..) | Self::Store(..) => self.clone(),
            Self::Rmw { .. } | Self::Fence(_) => self.clone(),
        }
    }
}

/// A part of a locked block. Loads and stores act on memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Micro {
    /// This path is not enabled unless the condition holds.
    Assume(Expr<RegisterId>),
    /// A violation unless the condition holds.
    Assert(Expr<RegisterId>),
    /// `r := e`
    Assign(RegisterId, Expr<RegisterId>),
    /// `r := any` value from `lo` to `hi`.
    Havoc(RegisterId, Value, Value),
    /// `load r, x`
    Load(RegisterId, Place),
    /// `store x, e`
    Store(Place, Expr<RegisterId>),
    /// One of these is taken; each that is enabled is a possibility.
    Choose(Vec<Vec<Self>>),
}

impl Micro {
    fn has_assertion(&self) -> bool {
        match self {
            Self::Assert(_) => true,
            Self::Choose(branches) => branches.iter().flatten().any(Self::has_assertion),
            Self::Assume(_) | Self::Assign(..) | Self::Havoc(..) | Self::Load(..) | Self::Store(..) => false,
        }
    }

    fn assumed(&self) -> Self {
        match self {
            Self::Assert(condition) => Self::Assume(condition.clone()),
            Self::Choose(branches) => {
                let assumed = |branch: &Vec<Self>| branch.iter().map(Self::assumed).collect();
                Self::Choose(branches.iter().map(assumed).collect())
            }
            Self::Assume(_) | Self::Assign(..) | Self::Havoc(..) | Self::Load(..) | Self::Store(..) => self.clone(),
        }
    }
}

/// A program. Made by a [`Builder`](super::Builder); never changes.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) source: Source,
    pub(super) locations: IndexVec<LocationId, Location>,
    pub(super) arrays: IndexVec<ArrayId, Array>,
    pub(super) templates: IndexVec<TemplateId, Template>,
    pub(super) processes: IndexVec<ProcessId, Process>,
    pub(super) points: IndexVec<PointId, Point>,
    pub(super) edges: IndexVec<EdgeId, Edge>,
    pub(super) properties: IndexVec<PropertyId, Property>,
    pub(super) no_hang: Option<NoHang>,
    /// The locations that are not atomic.
    pub(super) plain: BTreeSet<LocationId>,
    pub(super) waits: BTreeSet<Span>,
    /// Assertions that the text does not have, and what it means that they fail.
    pub(super) misuses: BTreeMap<EdgeId, Misuse>,
    pub(super) hints: Vec<Expr<StateVar>>,
    /// What stands for any number of threads with an index.
    pub(super) indexed: Option<Arc<Indexed>>,
    /// What others have found out about it.
    pub(super) memo: Memo,
}

impl Program {
    /// What others have found out about it, once. A program never changes, so that stays true.
    pub(crate) fn memo(&self) -> &Memo {
        &self.memo
    }

    /// The same program with other properties: another question about it.
    #[must_use]
    pub fn with_properties(&self, properties: impl IntoIterator<Item = Property>) -> Self {
        let properties = properties.into_iter().collect();
        Self { properties, indexed: self.unasked(), memo: Memo::default(), ..self.clone() }
    }

    /// The same program with assumptions for the assertions of some edges: runs in which they fail are not looked at.
    #[must_use]
    pub fn with_assumed(&self, is_assumed: &dyn Fn(EdgeId) -> bool) -> Self {
        let edges = self.edges.iter_enumerated().map(|(id, edge)| match edge.op.has_assertion() && is_assumed(id) {
            true => Edge { op: edge.op.assumed(), ..edge.clone() },
            false => edge.clone(),
        });
        Self { edges: edges.collect(), indexed: self.unasked(), memo: Memo::default(), ..self.clone() }
    }

    /// The same control flow over other data: other locations and processes, an operation for each edge, other
    /// properties and hints. Nothing is added or left out.
    pub(crate) fn with_data(
        &self,
        (locations, processes): (IndexVec<LocationId, Location>, IndexVec<ProcessId, Process>),
        ops: Vec<Op>,
        properties: IndexVec<PropertyId, Property>,
        hints: Vec<Expr<StateVar>>,
    ) -> Self {
        let edges = self.edges.iter().zip(ops).map(|(edge, op)| Edge { op, ..edge.clone() }).collect();
        Self { locations, processes, edges, properties, hints, memo: Memo::default(), ..self.clone() }
    }

    /// The same with more locations, arrays and registers, an operation for each edge, and edges beside some of them
    /// that lead to points of their own.
    pub(crate) fn with_branches(
        &self,
        (locations, processes): (IndexVec<LocationId, Location>, IndexVec<ProcessId, Process>),
        arrays: IndexVec<ArrayId, Array>,
        ops: Vec<Op>,
        branches: Vec<(EdgeId, Op)>,
    ) -> Self {
        let mut with = Self { arrays, ..self.with_data((locations, processes), ops, IndexVec::new(), Vec::new()) };
        for (beside, op) in branches {
            let Edge { process, from, .. } = with.edges[beside];
            let to = with.points.push(Point { process, labels: Vec::new(), edges: Vec::new(), is_end: false });
            let order = Order::default();
            let edge = with.edges.push(Edge { op, to, order, ..with.edges[beside].clone() });
            with.points[from].edges.push(edge);
        }
        with
    }

    /// The text it came from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// What it means that the assertion of an edge fails, where the text has no such assertion.
    pub fn misuse(&self, edge: EdgeId) -> Option<Misuse> {
        self.misuses.get(&edge).copied()
    }

    /// The shared locations.
    pub fn locations(&self) -> &IndexVec<LocationId, Location> {
        &self.locations
    }

    /// The shared arrays.
    pub fn arrays(&self) -> &IndexVec<ArrayId, Array> {
        &self.arrays
    }

    /// The array that a location is a cell of.
    pub fn array_of(&self, location: LocationId) -> Option<&Array> {
        let is_in = |it: &&Array| (it.first.index()..it.first.index() + it.len as usize).contains(&location.index());
        self.arrays.iter().find(is_in)
    }

    /// The threads of the text.
    pub fn templates(&self) -> &IndexVec<TemplateId, Template> {
        &self.templates
    }

    /// The processes.
    pub fn processes(&self) -> &IndexVec<ProcessId, Process> {
        &self.processes
    }

    /// The control points of all processes.
    pub fn points(&self) -> &IndexVec<PointId, Point> {
        &self.points
    }

    /// The edges of all processes.
    pub fn edges(&self) -> &IndexVec<EdgeId, Edge> {
        &self.edges
    }

    /// The properties. Assertions, ranges and indices are checked besides.
    pub fn properties(&self) -> &IndexVec<PropertyId, Property> {
        &self.properties
    }

    /// The locations that are not atomic: a race on one of them is a violation.
    pub fn plain(&self) -> &BTreeSet<LocationId> {
        &self.plain
    }

    /// Whether a place is not atomic.
    pub fn is_plain(&self, place: &Place) -> bool {
        match place {
            Place::Fixed(x) => self.plain.contains(x),
            Place::Cell(array, _) => self.plain.contains(&self.arrays[*array].first),
        }
    }

    /// The order of an access of an edge to a location: none where that is not atomic.
    pub fn order_at(&self, edge: EdgeId, x: LocationId) -> Order {
        if self.plain.contains(&x) { Order::Plain } else { self.edges[edge].order }
    }

    /// The places of the text that wait for a condition.
    pub fn waits(&self) -> &BTreeSet<Span> {
        &self.waits
    }

    /// Whether it says that none of its runs hangs.
    pub fn no_hang(&self) -> Option<&NoHang> {
        self.no_hang.as_ref()
    }

    /// Predicates offered to engines that can use them.
    pub fn hints(&self) -> &[Expr<StateVar>] {
        &self.hints
    }

    /// The same program with more such predicates.
    #[must_use]
    pub fn with_hints(mut self, hints: impl IntoIterator<Item = Expr<StateVar>>) -> Self {
        self.hints.extend(hints);
        self
    }

    /// The locations that a place may stand for.
    pub fn locations_of(&self, place: &Place) -> Vec<LocationId> {
        match place {
            Place::Fixed(location) => vec![*location],
            Place::Cell(array, _) => self.arrays[*array].cells().collect(),
        }
    }

    /// Whether an operation may write a location.
    pub fn may_write(&self, op: &Op, x: LocationId) -> bool {
        match op {
            Op::Store(place, _) => self.locations_of(place).contains(&x),
            Op::Rmw { place, write, .. } => write.is_some() && self.locations_of(place).contains(&x),
            Op::Locked(body) => body.iter().any(|micro| self.part_may_write(micro, x)),
            Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Load(..) | Op::Fence(_) => false,
        }
    }

    /// Whether an operation may read a location.
    pub fn may_read(&self, op: &Op, x: LocationId) -> bool {
        match op {
            Op::Load(_, place) | Op::Rmw { place, .. } => self.locations_of(place).contains(&x),
            Op::Locked(body) => body.iter().any(|micro| self.part_may_read(micro, x)),
            Op::Store(..) | Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Fence(_) => false,
        }
    }

    fn part_may_read(&self, micro: &Micro, x: LocationId) -> bool {
        match micro {
            Micro::Load(_, place) => self.locations_of(place).contains(&x),
            Micro::Choose(branches) => branches.iter().flatten().any(|micro| self.part_may_read(micro, x)),
            Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) | Micro::Store(..) => false,
        }
    }

    fn part_may_write(&self, micro: &Micro, x: LocationId) -> bool {
        match micro {
            Micro::Store(place, _) => self.locations_of(place).contains(&x),
            Micro::Choose(branches) => branches.iter().flatten().any(|micro| self.part_may_write(micro, x)),
            Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) | Micro::Load(..) => false,
        }
    }

    /// Whether some location or register holds unbounded integers.
    pub fn has_unbounded_data(&self) -> bool {
        self.has_wider_data_than(u64::MAX)
    }

    /// Whether some location or register may hold more values than this.
    pub(crate) fn has_wider_data_than(&self, n_values: u64) -> bool {
        let registers = self.processes.iter().flat_map(|process| process.registers.iter());
        let mut domains = self.locations.iter().map(|it| it.domain).chain(registers.map(|it| it.domain));
        domains.any(|domain| domain.size().is_none_or(|size| size > n_values))
    }
}
