//! A program that keeps track of happens-before while it runs under SC, and has a step to a point of its own wherever a
//! thread is about to race.
//!
//! ```text
//!                           ┌── is the last write of d not known? ──▶ ✗
//!   … ──▶ about to read d ──┤
//!                           └── { read d; nobody else knows of this read } ──▶ …
//! ```
//!
//! An access and what it does to the ghosts are one locked step, which changes nothing under SC. Edges keep their
//! numbers; those that look for a race come behind all others.

use crate::engine::data_race::knowledge::{Access, Holder, Knowledge, fence_order};
use crate::program::{
    BinaryOp, Domain, Edge, Expr, Initial, Location, LocationId, Micro, Op, Order, Place, PointId, Process, ProcessId,
    Program, Property, PropertyKind, PropertyWords, Register, RegisterId, RmwVar, Situation, Value,
};
use crate::source::Span;
use crate::util::{Idx, IndexVec};

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
}

/// A program with ghosts.
pub(super) fn watched(program: &Program, knowledge: &Knowledge) -> Program {
    let mut locations = program.locations().clone();
    let first = locations.next_index();
    let everything = knowledge.everything();
    for (i, _) in knowledge.holders.iter().enumerate() {
        let (domain, initial) = (Domain::Range(0, everything), Initial::Value(everything));
        locations.push(Location { name: format!("$knows{i}"), domain, initial, span: Span::default() });
    }
    let mut processes = program.processes().clone();
    let ghosts: IndexVec<ProcessId, Ghosts> =
        processes.indices().map(|p| add_registers(program, p, &mut processes[p], everything)).collect();
    let (mut ops, mut looks) = (Vec::new(), Vec::new());
    for (id, edge) in program.edges().iter_enumerated() {
        let watcher = Watcher { program, knowledge, first, edge, ghosts: ghosts[edge.process] };
        ops.push(watcher.op());
        looks.extend(watcher.look().map(|op| (id, op)));
    }
    let watched = program.with_branches((locations, processes), ops, looks);
    let bad = watched.points().indices().skip(program.points().len());
    let situations = bad.map(|point| at(watched.points()[point].process, point)).collect();
    let (text, words) = ("two accesses race".to_owned(), PropertyWords::default());
    let property = Property { kind: PropertyKind::Control, situations, text, words, span: Span::default() };
    watched.with_properties([property])
}

/// A process is at a point.
pub(super) fn at(process: ProcessId, point: PointId) -> Situation {
    Situation { at: vec![(process, vec![point])], condition: Expr::TRUE }
}

fn add_registers(program: &Program, p: ProcessId, process: &mut Process, everything: Value) -> Ghosts {
    let mut add = |name: &str, domain: Domain, first: Value| {
        let (name, initial) = (format!("${name}"), Initial::Value(first));
        process.registers.push(Register { name, domain, initial, span: Span::default() })
    };
    let one = add("one", Domain::Range(0, everything), 0);
    let other = add("other", Domain::Range(0, everything), 0);
    let raced = add("raced", Domain::Range(0, 1), 0);
    let domain = updated_domain(program, p);
    let first = domain.bounds().map_or(0, |it| it.0);
    Ghosts { one, other, raced, old: add("old", domain, first), first }
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
    /// Where the words of the holders begin.
    first: LocationId,
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
        let p = self.edge.process;
        match (self.program.is_plain(place), access) {
            (true, _) => self.at_cells(place, &|x| self.renew(x, access)),
            (false, Access::Read) => self.at_cells(place, &|x| self.read(x, order)),
            (false, Access::Write) => self.at_cells(place, &|x| {
                let from = if order.releases() { Holder::Thread(p) } else { Holder::Released(p) };
                self.copied(Holder::Location(x), from)
            }),
        }
    }

    /// An atomic load, or what an update reads.
    fn read(&self, x: LocationId, order: Order) -> Vec<Micro> {
        let p = self.edge.process;
        let to = if order.acquires() { Holder::Thread(p) } else { Holder::Seen(p) };
        self.added(to, Holder::Location(x))
    }

    /// An atomic update as a locked block; empty if it does nothing to the ghosts.
    fn update(&self, place: &Place) -> Vec<Micro> {
        let Edge { op: Op::Rmw { guard, write, into, .. }, order, process: p, .. } = self.edge else {
            return Vec::new();
        };
        let ghosts = self.at_cells(place, &|x| {
            let mut all = self.read(x, *order);
            if write.is_some() {
                let from = if order.releases() { Holder::Thread(*p) } else { Holder::Released(*p) };
                all.extend(self.added(Holder::Location(x), from));
            }
            all
        });
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
            body.extend(self.added(Holder::Thread(p), Holder::Seen(p)));
        }
        if order.releases() {
            body.extend(self.copied(Holder::Released(p), Holder::Thread(p)));
        }
        body
    }

    /// An atomic block: behind all blocks before it, each access as if it had no order; with a register that says
    /// whether it races, if that is asked.
    fn block(&self, body: &[Micro], raced: Option<RegisterId>) -> Vec<Micro> {
        let p = self.edge.process;
        let mut out = self.added(Holder::Thread(p), Holder::Blocks);
        out.extend(self.parts(body, raced));
        out.extend(self.added(Holder::Blocks, Holder::Thread(p)));
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

    /// Notes in a register if an access to plain data is not ordered behind what it conflicts with.
    fn check(&self, place: &Place, access: Access, raced: RegisterId) -> Vec<Micro> {
        if !self.program.is_plain(place) {
            return Vec::new();
        }
        let p = self.edge.process;
        self.at_cells(place, &|x| {
            let needed = self.knowledge.needed(p, x, access);
            if needed == 0 {
                return Vec::new();
            }
            let known = Expr::binary(BinaryOp::BitAnd, Expr::Var(self.ghosts.one), Expr::Const(needed));
            let is_missing = Expr::binary(BinaryOp::Ne, known, Expr::Const(needed));
            let either = Expr::binary(BinaryOp::BitOr, Expr::Var(raced), is_missing);
            vec![self.load(self.ghosts.one, Holder::Thread(p)), Micro::Assign(raced, either)]
        })
    }

    /// Nobody but the thread knows of an access yet; after a write there is no read to know of.
    fn renew(&self, x: LocationId, access: Access) -> Vec<Micro> {
        let p = self.edge.process;
        let (item, void) = self.knowledge.renewed(p, x, access);
        if item | void == 0 {
            return Vec::new();
        }
        let one = self.ghosts.one;
        let mut body = Vec::new();
        for &holder in &self.knowledge.holders {
            let (keep, add) = match holder == Holder::Thread(p) {
                true => (self.knowledge.everything(), item | void),
                false => (self.knowledge.everything() & !item, void),
            };
            let kept = Expr::binary(BinaryOp::BitAnd, Expr::Var(one), Expr::Const(keep));
            let value = Expr::binary(BinaryOp::BitOr, kept, Expr::Const(add));
            body.extend([self.load(one, holder), self.store(holder, value)]);
        }
        body
    }

    /// One holder gets to know what another knows.
    fn added(&self, to: Holder, from: Holder) -> Vec<Micro> {
        if !self.knowledge.has(to) || !self.knowledge.has(from) {
            return Vec::new();
        }
        let (one, other) = (self.ghosts.one, self.ghosts.other);
        let both = Expr::binary(BinaryOp::BitOr, Expr::Var(one), Expr::Var(other));
        vec![self.load(one, to), self.load(other, from), self.store(to, both)]
    }

    /// One holder knows what another knows, and no more; nothing if there is no such other.
    fn copied(&self, to: Holder, from: Holder) -> Vec<Micro> {
        if !self.knowledge.has(to) {
            return Vec::new();
        }
        if !self.knowledge.has(from) {
            return vec![self.store(to, Expr::Const(0))];
        }
        vec![self.load(self.ghosts.one, from), self.store(to, Expr::Var(self.ghosts.one))]
    }

    /// Ghost registers hold nothing between steps.
    fn forgotten(&self) -> [Micro; 2] {
        [self.ghosts.one, self.ghosts.other].map(|register| Micro::Assign(register, Expr::Const(0)))
    }

    fn load(&self, register: RegisterId, holder: Holder) -> Micro {
        Micro::Load(register, self.word(holder))
    }

    fn store(&self, holder: Holder, value: Expr<RegisterId>) -> Micro {
        Micro::Store(self.word(holder), value)
    }

    fn word(&self, holder: Holder) -> Place {
        let number = self.knowledge.holders.iter().position(|it| *it == holder).expect("the holder has a word");
        Place::Fixed(LocationId::from_usize(self.first.index() + number))
    }

    /// What is done for the location that a place stands for; outside the array nothing, since the access goes wrong.
    fn at_cells(&self, place: &Place, of: &dyn Fn(LocationId) -> Vec<Micro>) -> Vec<Micro> {
        let (array, index) = match place {
            Place::Fixed(x) => return of(*x),
            Place::Cell(array, index) => (&self.program.arrays()[*array], index),
        };
        let each: Vec<Vec<Micro>> = array.cells().map(of).collect();
        if each.iter().all(Vec::is_empty) {
            return Vec::new();
        }
        let is = |op, value| Micro::Assume(Expr::binary(op, index.clone(), Expr::Const(value)));
        let cells = (0..).zip(each).map(|(i, body)| joined(vec![is(BinaryOp::Eq, i)], body));
        let below = vec![is(BinaryOp::Lt, 0)];
        let above = vec![is(BinaryOp::Ge, Value::from(array.len))];
        vec![Micro::Choose(cells.chain([below, above]).collect())]
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
