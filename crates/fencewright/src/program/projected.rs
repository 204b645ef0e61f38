//! Some threads of a program, against any behavior of the others.
//!
//! The threads that are kept stay as they are, the others are gone. A location that one of those may write is
//! *foreign*: whoever loads it finds any value of its range, and what is stored there is forgotten.
//!
//! ```text
//!    kept: P(0), P(1) of four          number[2] is P(2)'s
//!
//!    while (number[2] != 0 && …)       ⟹   $number[2] := any; while ($number[2] != 0 && …)
//! ```
//!
//! **Every run of the program up to its first violation is one of the projection**, whatever the model does with
//! stores: leave out the steps of the others, and what the kept threads have waiting for foreign locations. What a kept
//! thread finds in a location of its own kind is what only kept threads have stored. What it finds in a foreign one is
//! in its range, since nobody has left a range before. Fences and updates wait for fewer stores, so they pass where
//! they passed. An update of a foreign location waits for what it waited for ([`Updates`]). So what no run of the
//! projection reaches, no run of the program reaches; and an operation of a kept thread goes wrong in the projection if
//! it does in the program.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{
    ArrayId, BinaryOp, Edge, EdgeId, Expr, Initial, LocationId, Micro, Op, Place, Placement, Point, PointId, Process,
    ProcessId, Program, Property, PropertyKind, Register, RegisterId, RmwVar, Side, Situation, StateVar, Value,
};
use crate::source::Span;
use crate::util::{Idx, IndexVec, Memo};
use crate::watch::heed;

/// What an update of a foreign location waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updates {
    /// Until nothing of its thread waits.
    Drain,
    /// Until nothing for that location waits, which is nothing then.
    Pass,
}

/// Any integer, as a range.
pub const ANY_INTEGER: (Value, Value) = (Value::MIN, Value::MAX);

/// Some threads against any behavior of the others, and what has become of their points.
#[derive(Clone, Debug)]
pub struct Projection {
    /// The program; fences are part of it.
    pub program: Program,
    /// Whether any integer may be found somewhere: that is for engines that do not try values one by one.
    pub picks_integers: bool,
    /// The points of the kept threads.
    pub points: BTreeMap<PointId, PointId>,
    /// Between a fence and the edge that it stands before.
    pub ready: BTreeMap<EdgeId, PointId>,
    /// Between an edge and the fence behind it.
    pub done: BTreeMap<EdgeId, PointId>,
}

impl Program {
    /// These threads, with their fences, against any behavior of the others. Nothing if a foreign location has no
    /// range.
    pub fn projected(&self, placement: &Placement, kept: &BTreeSet<ProcessId>, updates: Updates) -> Option<Self> {
        let made = self.projection(placement, kept, updates, &BTreeSet::new());
        (!made.picks_integers).then_some(made.program)
    }

    /// The same with what has become of points. Some locations are foreign, whoever writes them. What is found in one
    /// without a range is any integer.
    pub fn projection(
        &self,
        placement: &Placement,
        kept: &BTreeSet<ProcessId>,
        updates: Updates,
        also_foreign: &BTreeSet<LocationId>,
    ) -> Projection {
        let is_foreign =
            |x: LocationId| self.edges.iter().any(|edge| !kept.contains(&edge.process) && self.may_write(&edge.op, x));
        let mut foreign: BTreeSet<LocationId> = self.locations.indices().filter(|&x| is_foreign(x)).collect();
        foreign.extend(also_foreign);
        let picks_integers = foreign.iter().any(|&x| self.locations[x].domain.bounds().is_none());
        let mut making = Making {
            of: self,
            placement,
            foreign,
            updates,
            ids: kept.iter().enumerate().map(|(i, &it)| (it, ProcessId::from_usize(i))).collect(),
            processes: IndexVec::new(),
            points: IndexVec::new(),
            edges: IndexVec::new(),
            places: BTreeMap::new(),
            ready: BTreeMap::new(),
            done: BTreeMap::new(),
            scratch: BTreeMap::new(),
        };
        kept.iter().for_each(|&process| making.process(process));
        let (points, ready, done) = (making.places.clone(), making.ready.clone(), making.done.clone());
        Projection { program: making.made(), picks_integers, points, ready, done }
    }

    /// The threads without which nothing is known of a situation: those that it names, reads registers of, or that
    /// write what it looks at. At the end of a run it names those of which it looks at something.
    pub fn needed(&self, kind: PropertyKind, situation: &Situation) -> BTreeSet<ProcessId> {
        let mut needed = BTreeSet::new();
        if kind != PropertyKind::Final {
            needed.extend(situation.at.iter().map(|it| it.0));
        }
        situation.condition.for_each_var(&mut |variable| match variable {
            StateVar::Register(process, _) => drop(needed.insert(*process)),
            StateVar::Memory(x) => {
                needed.extend(self.edges.iter().filter(|it| self.may_write(&it.op, *x)).map(|it| it.process));
            }
        });
        needed
    }
}

/// What a register that was not there before holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    /// What is found in a foreign location.
    Found(LocationId),
    /// What is stored there.
    Stored(LocationId),
}

/// A projection in the making.
struct Making<'a> {
    of: &'a Program,
    placement: &'a Placement,
    foreign: BTreeSet<LocationId>,
    updates: Updates,
    ids: BTreeMap<ProcessId, ProcessId>,
    processes: IndexVec<ProcessId, Process>,
    points: IndexVec<PointId, Point>,
    edges: IndexVec<EdgeId, Edge>,
    /// What the points of kept threads become.
    places: BTreeMap<PointId, PointId>,
    /// Where a fence before an edge leads, and where one behind it starts.
    ready: BTreeMap<EdgeId, PointId>,
    done: BTreeMap<EdgeId, PointId>,
    scratch: BTreeMap<(ProcessId, Held), RegisterId>,
}

/// Operations one after the other.
type Chain = Vec<Op>;

impl Making<'_> {
    fn process(&mut self, old: ProcessId) {
        let process = self.ids[&old];
        for (id, point) in self.of.points.iter_enumerated().filter(|(_, it)| it.process == old) {
            let new = self.points.push(Point { process, edges: Vec::new(), ..point.clone() });
            self.places.insert(id, new);
        }
        let it = &self.of.processes[old];
        self.processes.push(Process { entry: self.places[&it.entry], ..it.clone() });
        for (id, edge) in self.of.edges.iter_enumerated().filter(|(_, it)| it.process == old) {
            heed(4);
            self.edge(process, id, edge);
        }
    }

    /// An edge with its fences.
    fn edge(&mut self, process: ProcessId, id: EdgeId, edge: &Edge) {
        let (mut from, to) = (self.places[&edge.from], self.places[&edge.to]);
        if let Some(kind) = self.placement.get(id, Side::Before) {
            let next = self.point(process);
            self.push(edge, from, Op::Fence(kind), next);
            self.ready.insert(id, next);
            from = next;
        }
        let end = match self.placement.get(id, Side::After) {
            Some(kind) => {
                let end = self.point(process);
                self.push(edge, end, Op::Fence(kind), to);
                self.done.insert(id, end);
                end
            }
            None => to,
        };
        for chain in self.chains(process, &edge.op) {
            self.chain(edge, process, (from, end), chain);
        }
    }

    fn chain(&mut self, like: &Edge, process: ProcessId, (from, to): (PointId, PointId), chain: Chain) {
        let n = chain.len();
        let mut at = from;
        for (i, op) in chain.into_iter().enumerate() {
            let next = if i + 1 == n { to } else { self.point(process) };
            self.push(like, at, op, next);
            at = next;
        }
    }

    fn point(&mut self, process: ProcessId) -> PointId {
        self.points.push(Point { process, labels: Vec::new(), edges: Vec::new(), is_end: false })
    }

    fn push(&mut self, like: &Edge, from: PointId, op: Op, to: PointId) {
        let process = self.points[from].process;
        let edge = self.edges.push(Edge { process, from, to, op, ..like.clone() });
        self.points[from].edges.push(edge);
    }

    fn is_foreign(&self, place: &Place) -> bool {
        self.of.locations_of(place).iter().any(|x| self.foreign.contains(x))
    }

    /// What an operation becomes: one of these chains is taken.
    fn chains(&mut self, process: ProcessId, op: &Op) -> Vec<Chain> {
        let place = match op {
            Op::Load(_, place) | Op::Store(place, _) | Op::Rmw { place, .. } => place,
            Op::Locked(body) => {
                let body = body.iter().flat_map(|micro| self.micro(process, micro)).collect();
                return vec![vec![Op::Locked(body)]];
            }
            Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Fence(_) => {
                return vec![vec![op.clone()]];
            }
        };
        if !self.is_foreign(place) {
            return vec![vec![op.clone()]];
        }
        match place.clone() {
            Place::Fixed(x) => vec![self.at_foreign(process, op, x)],
            Place::Cell(array, index) => {
                let of_cell = |making: &mut Self, (number, x): (Value, LocationId)| {
                    let here = vec![Op::Assert(making.within(array, &index)), Op::Assume(is(&index, number))];
                    let rest = match making.foreign.contains(&x) {
                        true => making.at_foreign(process, op, x),
                        false => vec![with_place(op, x)],
                    };
                    [here, rest].concat()
                };
                let cells: Vec<_> = (0..).zip(self.of.arrays[array].cells()).collect();
                cells.into_iter().map(|cell| of_cell(self, cell)).collect()
            }
        }
    }

    /// An access to a foreign location.
    fn at_foreign(&mut self, process: ProcessId, op: &Op, x: LocationId) -> Chain {
        match op {
            Op::Load(into, _) => {
                let found = self.held(process, Held::Found(x));
                vec![self.found(process, x), Op::Assign(*into, Expr::Var(found))]
            }
            Op::Store(_, value) => {
                let stored = self.held(process, Held::Stored(x));
                vec![Op::Assign(stored, value.clone())]
            }
            Op::Rmw { guard, write, into, .. } => {
                let (found, stored) = (self.held(process, Held::Found(x)), self.held(process, Held::Stored(x)));
                let over = |expr: &Expr<RmwVar>| {
                    expr.map(&mut |variable| match variable {
                        RmwVar::Old => found,
                        RmwVar::Register(register) => *register,
                    })
                };
                let mut chain = vec![self.found(process, x), Op::Assume(over(guard))];
                chain.extend(write.as_ref().map(|write| Op::Assign(stored, over(write))));
                chain.extend(into.map(|into| Op::Assign(into, Expr::Var(found))));
                match self.updates {
                    Updates::Drain => vec![Op::Locked(chain.into_iter().map(as_micro).collect())],
                    Updates::Pass => chain,
                }
            }
            Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Fence(_) | Op::Locked(_) => {
                unreachable!("it accesses no location by itself")
            }
        }
    }

    /// Any value of a foreign location is found.
    fn found(&mut self, process: ProcessId, x: LocationId) -> Op {
        let (lo, hi) = self.of.locations[x].domain.bounds().unwrap_or(ANY_INTEGER);
        Op::Havoc(self.held(process, Held::Found(x)), lo, hi)
    }

    /// The register that holds what is found in a foreign location, or stored there.
    fn held(&mut self, process: ProcessId, held: Held) -> RegisterId {
        let (x, word) = match held {
            Held::Found(x) => (x, "any"),
            Held::Stored(x) => (x, "to"),
        };
        let location = &self.of.locations[x];
        let registers = &mut self.processes[process].registers;
        *self.scratch.entry((process, held)).or_insert_with(|| {
            let lo = location.domain.bounds().map_or(0, |bounds| bounds.0);
            let name = format!("${word} {}", location.name);
            registers.push(Register {
                name,
                domain: location.domain,
                initial: Initial::Value(lo),
                span: Span::default(),
            })
        })
    }

    /// An index is within an array.
    fn within(&self, array: ArrayId, index: &Expr<RegisterId>) -> Expr<RegisterId> {
        let last = Value::from(self.of.arrays[array].len) - 1;
        let bound = |op, value| Expr::binary(op, index.clone(), Expr::Const(value));
        Expr::binary(BinaryOp::And, bound(BinaryOp::Ge, 0), bound(BinaryOp::Le, last))
    }

    /// What a part of a locked block becomes.
    fn micro(&mut self, process: ProcessId, micro: &Micro) -> Vec<Micro> {
        let (place, op) = match micro {
            Micro::Load(into, place) => (place, Op::Load(*into, place.clone())),
            Micro::Store(place, value) => (place, Op::Store(place.clone(), value.clone())),
            Micro::Choose(branches) => {
                let branch = |making: &mut Self, branch: &Vec<Micro>| {
                    branch.iter().flat_map(|micro| making.micro(process, micro)).collect()
                };
                return vec![Micro::Choose(branches.iter().map(|it| branch(self, it)).collect())];
            }
            Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) => return vec![micro.clone()],
        };
        if !self.is_foreign(place) {
            return vec![micro.clone()];
        }
        let chains = self.chains(process, &op).into_iter();
        let mut chains: Vec<Vec<Micro>> = chains.map(|it| it.into_iter().map(as_micro).collect()).collect();
        match chains.len() {
            1 => chains.pop().unwrap_or_default(),
            _ => vec![Micro::Choose(chains)],
        }
    }

    fn made(self) -> Program {
        let properties = self.of.properties.iter().map(|it| self.property(it)).collect();
        Program {
            processes: self.processes,
            points: self.points,
            edges: self.edges,
            properties,
            no_hang: None,
            hints: Vec::new(),
            indexed: None,
            memo: Memo::default(),
            ..self.of.clone()
        }
    }

    fn property(&self, property: &Property) -> Property {
        let is_kept = |situation: &&Situation| {
            self.of.needed(property.kind, situation).iter().all(|process| self.ids.contains_key(process))
        };
        let situations = property.situations.iter().filter(is_kept).map(|it| self.situation(it)).collect();
        Property { situations, ..property.clone() }
    }

    /// A situation that is about kept threads; at the end of a run, others have ended too.
    fn situation(&self, situation: &Situation) -> Situation {
        let kept = situation.at.iter().filter_map(|(process, points)| {
            let points = points.iter().map(|point| self.places.get(point).copied()).collect::<Option<Vec<_>>>()?;
            Some((*self.ids.get(process)?, points))
        });
        let condition = situation.condition.map(&mut |variable| match *variable {
            StateVar::Register(process, register) => StateVar::Register(self.ids[&process], register),
            StateVar::Memory(x) => StateVar::Memory(x),
        });
        Situation { at: kept.collect(), condition }
    }
}

fn is(index: &Expr<RegisterId>, value: Value) -> Expr<RegisterId> {
    Expr::binary(BinaryOp::Eq, index.clone(), Expr::Const(value))
}

/// The same access to a location.
fn with_place(op: &Op, x: LocationId) -> Op {
    let mut op = op.clone();
    match &mut op {
        Op::Load(_, place) | Op::Store(place, _) | Op::Rmw { place, .. } => *place = Place::Fixed(x),
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Fence(_) | Op::Locked(_) => {}
    }
    op
}

/// A local step, or an access, as a part of a locked block.
fn as_micro(op: Op) -> Micro {
    match op {
        Op::Assume(it) => Micro::Assume(it),
        Op::Assert(it) => Micro::Assert(it),
        Op::Assign(register, value) => Micro::Assign(register, value),
        Op::Havoc(register, lo, hi) => Micro::Havoc(register, lo, hi),
        Op::Load(register, place) => Micro::Load(register, place),
        Op::Store(place, value) => Micro::Store(place, value),
        Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => unreachable!("a locked block has no such part"),
    }
}
