//! A program that keeps track of happens-before while it runs under SC, and has a step to a point of its own wherever a
//! thread is about to race.
//!
//! ```text
//!                           ┌── is the write that is followed not known? ──▶ ✗
//!   … ──▶ about to read d ──┤
//!                           └── { read d; perhaps follow this read }  ──▶ …
//! ```
//!
//! An access and what it does to the ghosts are one locked step, which changes nothing under SC. Edges keep their
//! numbers; those that look for a race come behind all others. A step that may follow an access or not has a way more.

use std::collections::BTreeMap;

use crate::engine::data_race::knowledge::{Access, Following, Ghost, Holder, Knowledge, fence_order};
use crate::program::{
    Array, ArrayId, BinaryOp, Domain, Edge, Expr, Initial, Location, LocationId, Micro, Op, Order, Place, PointId,
    Process, ProcessId, Program, Property, PropertyKind, PropertyWords, Register, RegisterId, RmwVar, Situation, Value,
};
use crate::source::Span;
use crate::util::{Idx, IndexVec};

/// Where something is kept.
#[derive(Clone, Debug)]
enum Kept {
    InMemory(Place),
    InRegister(RegisterId),
}

/// The registers that ghosts need in a process.
#[derive(Clone, Copy, Debug)]
struct Ghosts {
    one: RegisterId,
    other: RegisterId,
    /// Whether a block races.
    raced: RegisterId,
    /// What an update found.
    old: RegisterId,
    /// What that starts with.
    first: Value,
    /// What the thread knows, what its last release fence knew, and what its relaxed loads have seen; if that is not in
    /// memory.
    own: Option<[RegisterId; 3]>,
}

/// A program with ghosts.
pub(super) fn watched(program: &Program, knowledge: &Knowledge) -> Program {
    let mut locations = program.locations().clone();
    let first = locations.next_index();
    for (i, ghost) in knowledge.ghosts().into_iter().enumerate() {
        let domain = match ghost {
            Ghost::Following | Ghost::Knows(_) => Domain::Range(0, 1),
            Ghost::Followed(_) => Domain::Range(0, followed(Access::Write)),
        };
        let initial = Initial::Value(0);
        locations.push(Location { name: format!("$ghost{i}"), domain, initial, span: Span::default() });
    }
    let mut processes = program.processes().clone();
    let ghosts: IndexVec<ProcessId, Ghosts> =
        processes.indices().map(|p| add_registers(program, p, knowledge.following(), &mut processes[p])).collect();
    let (arrays, of_arrays) = ghost_arrays(program, knowledge, first);
    let (mut ops, mut looks) = (Vec::new(), Vec::new());
    for (id, edge) in program.edges().iter_enumerated() {
        let watcher = Watcher { program, knowledge, first, of_arrays: &of_arrays, edge, ghosts: ghosts[edge.process] };
        ops.push(watcher.op());
        looks.extend(watcher.look().map(|op| (id, op)));
    }
    let watched = program.with_branches((locations, processes), arrays, ops, looks);
    let bad = watched.points().indices().skip(program.points().len());
    let situations = bad.map(|point| at(watched.points()[point].process, point)).collect();
    let (text, words) = ("two accesses race".to_owned(), PropertyWords::default());
    let property = Property { kind: PropertyKind::Control, situations, text, words, span: Span::default() };
    watched.with_properties([property])
}

/// The arrays, with one behind them for each whose cells are remembered; which that is.
fn ghost_arrays(
    program: &Program,
    knowledge: &Knowledge,
    first: LocationId,
) -> (IndexVec<ArrayId, Array>, BTreeMap<ArrayId, ArrayId>) {
    let (mut arrays, mut of_arrays) = (program.arrays().clone(), BTreeMap::new());
    for (id, array) in program.arrays().iter_enumerated() {
        let number = knowledge.number(remembered(program, array.first));
        if let Some(number) = number {
            let (name, first) = (format!("$of_{}", array.name), LocationId::from_usize(first.index() + number));
            of_arrays.insert(id, arrays.push(Array { name, first, ..array.clone() }));
        }
    }
    (arrays, of_arrays)
}

/// What is remembered of a location: of plain data which access is followed, of others whether it is known there.
fn remembered(program: &Program, x: LocationId) -> Ghost {
    if program.plain().contains(&x) { Ghost::Followed(x) } else { Ghost::Knows(Holder::Location(x)) }
}

/// A process is at a point.
pub(super) fn at(process: ProcessId, point: PointId) -> Situation {
    Situation { at: vec![(process, vec![point])], condition: Expr::TRUE }
}

/// How an access that is followed is written down.
fn followed(access: Access) -> Value {
    match access {
        Access::Read => 1,
        Access::Write => 2,
    }
}

fn add_registers(program: &Program, p: ProcessId, following: Following, process: &mut Process) -> Ghosts {
    let mut add = |name: &str, domain: Domain, first: Value| {
        let (name, initial) = (format!("${name}"), Initial::Value(first));
        process.registers.push(Register { name, domain, initial, span: Span::default() })
    };
    let one = add("one", Domain::Range(0, followed(Access::Write)), 0);
    let other = add("other", Domain::Range(0, 1), 0);
    let raced = add("raced", Domain::Range(0, 1), 0);
    let domain = updated_domain(program, p);
    let first = domain.bounds().map_or(0, |it| it.0);
    let old = add("old", domain, first);
    let own = (following == Following::ForEver)
        .then(|| ["knows", "released", "seen"].map(|name| add(name, Domain::Range(0, 1), 0)));
    Ghosts { one, other, raced, old, first, own }
}

/// What an update of a process may find.
fn updated_domain(program: &Program, p: ProcessId) -> Domain {
    let mut all = Some((0, 0));
    for edge in program.edges().iter().filter(|edge| edge.process == p) {
        if let Op::Rmw { place, .. } = &edge.op {
            for x in program.locations_of(place) {
                let bounds = program.locations()[x].domain.bounds();
                all = all.zip(bounds).map(|((lo, hi), (least, greatest))| (lo.min(least), hi.max(greatest)));
            }
        }
    }
    all.map_or(Domain::Int, |(lo, hi)| Domain::Range(lo, hi))
}

/// An edge that is to be watched.
struct Watcher<'a> {
    program: &'a Program,
    knowledge: &'a Knowledge,
    /// Where the ghosts begin.
    first: LocationId,
    /// The ghosts of the cells of arrays.
    of_arrays: &'a BTreeMap<ArrayId, ArrayId>,
    edge: &'a Edge,
    ghosts: Ghosts,
}

impl Watcher<'_> {
    /// What the edge does now.
    fn op(&self) -> Op {
        let Edge { op, order, .. } = self.edge;
        let mut body = match op {
            Op::Load(register, place) => {
                let ghosts = self.access(place, Access::Read, *order);
                joined(ghosts, vec![Micro::Load(*register, place.clone())])
            }
            Op::Store(place, value) => {
                let ghosts = self.access(place, Access::Write, *order);
                joined(ghosts, vec![Micro::Store(place.clone(), value.clone())])
            }
            Op::Rmw { place, .. } => self.update(place),
            Op::Locked(body) => self.block(body, None),
            Op::Assume(_) | Op::Fence(_) => fence_order(op, *order).map_or(Vec::new(), |it| self.fence(it)),
            Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => Vec::new(),
        };
        if body.is_empty() {
            return op.clone();
        }
        body.extend(self.forgotten());
        Op::Locked(body)
    }

    /// Whether the edge races: a step that is possible only then.
    fn look(&self) -> Option<Op> {
        let raced = self.ghosts.raced;
        let mut body = match &self.edge.op {
            Op::Load(_, place) => self.check(place, Access::Read, raced),
            Op::Store(place, _) => self.check(place, Access::Write, raced),
            Op::Locked(body) => self.block(body, Some(raced)),
            // Plain data is not updated.
            Op::Rmw { .. } | Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Fence(_) => {
                Vec::new()
            }
        };
        if !body.iter().any(|it| sets(it, raced)) {
            return None;
        }
        body.push(Micro::Assume(Expr::Var(raced)));
        body.push(Micro::Assign(raced, Expr::Const(0)));
        body.extend(self.forgotten());
        Some(Op::Locked(body))
    }

    /// What happens to the ghosts with an access.
    fn access(&self, place: &Place, access: Access, order: Order) -> Vec<Micro> {
        match (self.program.is_plain(place), access) {
            (true, _) => self.happens(place, access),
            (false, Access::Read) => self.read(place, order),
            (false, Access::Write) => self.copied(self.of(place).map(Kept::InMemory), self.released(order)),
        }
    }

    /// An atomic load, or what an update reads.
    fn read(&self, place: &Place, order: Order) -> Vec<Micro> {
        let p = self.edge.process;
        let to = if order.acquires() { Holder::Thread(p) } else { Holder::Seen(p) };
        self.added(self.known(to), self.of(place).map(Kept::InMemory))
    }

    /// What a write tells.
    fn released(&self, order: Order) -> Option<Kept> {
        let p = self.edge.process;
        self.known(if order.releases() { Holder::Thread(p) } else { Holder::Released(p) })
    }

    /// An atomic update as a locked block; empty if it does nothing to the ghosts.
    fn update(&self, place: &Place) -> Vec<Micro> {
        let Edge { op: Op::Rmw { guard, write, into, .. }, order, .. } = self.edge else {
            return Vec::new();
        };
        let mut ghosts = self.read(place, *order);
        if write.is_some() {
            ghosts.extend(self.added(self.of(place).map(Kept::InMemory), self.released(*order)));
        }
        if ghosts.is_empty() {
            return ghosts;
        }
        let old = self.ghosts.old;
        let over = |expr: &Expr<RmwVar>| {
            expr.map(&mut |var| match var {
                RmwVar::Old => old,
                RmwVar::Register(register) => *register,
            })
        };
        let mut body = vec![Micro::Load(old, place.clone()), Micro::Assume(over(guard))];
        body.extend(ghosts);
        body.extend(write.as_ref().map(|value| Micro::Store(place.clone(), over(value))));
        body.extend(into.map(|register| Micro::Assign(register, Expr::Var(old))));
        body.push(Micro::Assign(old, Expr::Const(self.ghosts.first)));
        body
    }

    /// A fence of the language.
    fn fence(&self, order: Order) -> Vec<Micro> {
        let p = self.edge.process;
        let mut body = Vec::new();
        if order.acquires() {
            body.extend(self.added(self.known(Holder::Thread(p)), self.known(Holder::Seen(p))));
        }
        if order.releases() {
            body.extend(self.copied(self.known(Holder::Released(p)), self.known(Holder::Thread(p))));
        }
        body
    }

    /// An atomic block: behind all blocks before it, each access as if it had no order; with a register that says
    /// whether it races, if that is asked.
    fn block(&self, body: &[Micro], raced: Option<RegisterId>) -> Vec<Micro> {
        let (thread, blocks) = (self.known(Holder::Thread(self.edge.process)), self.known(Holder::Blocks));
        let mut out = self.added(thread.clone(), blocks.clone());
        out.extend(self.parts(body, raced));
        out.extend(self.added(blocks, thread));
        out
    }

    fn parts(&self, body: &[Micro], raced: Option<RegisterId>) -> Vec<Micro> {
        let mut out = Vec::new();
        for micro in body {
            let accessed = match micro {
                Micro::Load(_, place) => Some((place, Access::Read)),
                Micro::Store(place, _) => Some((place, Access::Write)),
                Micro::Choose(_) | Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) => None,
            };
            if let Some((place, access)) = accessed {
                out.extend(raced.map_or(Vec::new(), |raced| self.check(place, access, raced)));
                out.extend(self.access(place, access, Order::default()));
            }
            out.push(if let Micro::Choose(branches) = micro {
                Micro::Choose(branches.iter().map(|branch| self.parts(branch, raced)).collect())
            } else {
                micro.clone()
            });
        }
        out
    }

    /// Notes in a register if an access to plain data is not ordered behind the one that is followed.
    fn check(&self, place: &Place, access: Access, raced: RegisterId) -> Vec<Micro> {
        let Some((of, thread)) = self.contended(place, access) else { return Vec::new() };
        let (one, other) = (self.ghosts.one, self.ghosts.other);
        let least = match access {
            Access::Read => followed(Access::Write),
            Access::Write => followed(Access::Read),
        };
        let is_followed = Expr::binary(BinaryOp::Ge, Expr::Var(one), Expr::Const(least));
        let is_unknown = Expr::binary(BinaryOp::Eq, Expr::Var(other), Expr::Const(0));
        let races = Expr::binary(BinaryOp::BitAnd, is_followed, is_unknown);
        let either = Expr::binary(BinaryOp::BitOr, Expr::Var(raced), races);
        vec![Micro::Load(one, of), taken(other, &thread), Micro::Assign(raced, either)]
    }

    /// An access to plain data: it may be followed if nothing is, and a write ends that an access to the same is.
    fn happens(&self, place: &Place, access: Access) -> Vec<Micro> {
        let Some((of, thread)) = self.contended(place, access) else { return Vec::new() };
        let (one, other) = (self.ghosts.one, self.ghosts.other);
        let is = |register, value| Micro::Assume(Expr::binary(BinaryOp::Eq, Expr::Var(register), Expr::Const(value)));
        let set = |place: &Place, value| Micro::Store(place.clone(), Expr::Const(value));
        let following = self.place(Ghost::Following).expect("it is there");
        let begin = [set(&following, 1), set(&of, followed(access)), put(&thread, Expr::Const(1))];
        let begins = [is(other, 0)].into_iter().chain(begin).collect();
        let load = Micro::Load(other, following.clone());
        match (access, self.knowledge.following()) {
            (Access::Read, _) if self.is_written_next(place) => Vec::new(),
            (Access::Read, _) | (Access::Write, Following::ForEver) => {
                vec![load, Micro::Choose(vec![Vec::new(), begins])]
            }
            (Access::Write, Following::UntilWritten) => {
                let goes_on = vec![is(one, 0)];
                let is_over = Expr::binary(BinaryOp::Ne, Expr::Var(one), Expr::Const(0));
                let known = self.knowledge.holders().filter_map(|it| self.known(it)).map(|it| put(&it, Expr::Const(0)));
                let end = [set(&following, 0), set(&of, 0)].into_iter().chain(known);
                let ends = [Micro::Assume(is_over)].into_iter().chain(end).collect();
                vec![load, Micro::Load(one, of.clone()), Micro::Choose(vec![goes_on, begins, ends])]
            }
        }
    }

    /// What is remembered of plain data, and of this thread, if the access may conflict with one of another thread.
    fn contended(&self, place: &Place, access: Access) -> Option<(Place, Kept)> {
        let p = self.edge.process;
        let may_conflict = |x| self.knowledge.may_conflict(p, x, access);
        let is_plain = self.program.is_plain(place);
        let is_contended = is_plain && self.program.locations_of(place).into_iter().any(may_conflict);
        is_contended.then(|| self.of(place)).flatten().zip(self.known(Holder::Thread(p)))
    }

    /// Whether what the edge loads is stored next by the same thread, whatever happens. Who races with the load then
    /// races with the store: nothing that the thread does in between orders anything.
    fn is_written_next(&self, place: &Place) -> bool {
        let is_load = matches!(self.edge.op, Op::Load(..));
        let [next] = self.program.points()[self.edge.to].edges[..] else { return false };
        let is_same = |written: &Place| written == place && matches!(place, Place::Fixed(_));
        is_load && matches!(&self.program.edges()[next].op, Op::Store(written, _) if is_same(written))
    }

    /// One holder gets to know what another knows; nothing if there is no such one.
    fn added(&self, to: Option<Kept>, from: Option<Kept>) -> Vec<Micro> {
        let (Some(to), Some(from)) = (to, from) else { return Vec::new() };
        let (one, other) = (self.ghosts.one, self.ghosts.other);
        let both = Expr::binary(BinaryOp::BitOr, Expr::Var(one), Expr::Var(other));
        vec![taken(one, &to), taken(other, &from), put(&to, both)]
    }

    /// One holder knows what another knows, and no more; nothing if there is no such other.
    fn copied(&self, to: Option<Kept>, from: Option<Kept>) -> Vec<Micro> {
        let one = self.ghosts.one;
        match (to, from) {
            (None, _) => Vec::new(),
            (Some(to), None) => vec![put(&to, Expr::Const(0))],
            (Some(to), Some(from)) => vec![taken(one, &from), put(&to, Expr::Var(one))],
        }
    }

    /// Ghost registers hold nothing between steps.
    fn forgotten(&self) -> [Micro; 2] {
        [self.ghosts.one, self.ghosts.other].map(|register| Micro::Assign(register, Expr::Const(0)))
    }

    /// What a holder knows.
    fn known(&self, holder: Holder) -> Option<Kept> {
        let in_memory = || self.place(Ghost::Knows(holder)).map(Kept::InMemory);
        let [knows, released, seen] = match self.ghosts.own {
            Some(own) if self.knowledge.has(holder) => own,
            Some(_) | None => return in_memory(),
        };
        match holder {
            Holder::Thread(_) => Some(Kept::InRegister(knows)),
            Holder::Released(_) => Some(Kept::InRegister(released)),
            Holder::Seen(_) => Some(Kept::InRegister(seen)),
            Holder::Location(_) | Holder::Blocks => in_memory(),
        }
    }

    /// What is remembered of a place.
    fn of(&self, place: &Place) -> Option<Place> {
        match place {
            Place::Fixed(x) => self.place(remembered(self.program, *x)),
            Place::Cell(array, index) => Some(Place::Cell(*self.of_arrays.get(array)?, index.clone())),
        }
    }

    fn place(&self, ghost: Ghost) -> Option<Place> {
        let number = self.knowledge.number(ghost)?;
        Some(Place::Fixed(LocationId::from_usize(self.first.index() + number)))
    }
}

/// A register takes what is kept somewhere.
fn taken(register: RegisterId, from: &Kept) -> Micro {
    match from {
        Kept::InMemory(place) => Micro::Load(register, place.clone()),
        Kept::InRegister(from) => Micro::Assign(register, Expr::Var(*from)),
    }
}

/// A value is kept somewhere.
fn put(to: &Kept, value: Expr<RegisterId>) -> Micro {
    match to {
        Kept::InMemory(place) => Micro::Store(place.clone(), value),
        Kept::InRegister(to) => Micro::Assign(*to, value),
    }
}

/// One after the other, if there is a first.
fn joined(mut first: Vec<Micro>, then: Vec<Micro>) -> Vec<Micro> {
    if !first.is_empty() {
        first.extend(then);
    }
    first
}

fn sets(micro: &Micro, register: RegisterId) -> bool {
    match micro {
        Micro::Assign(to, _) => *to == register,
        Micro::Choose(branches) => branches.iter().flatten().any(|it| sets(it, register)),
        Micro::Assume(_) | Micro::Assert(_) | Micro::Havoc(..) | Micro::Load(..) | Micro::Store(..) => false,
    }
}
