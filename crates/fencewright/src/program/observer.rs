//! An observer: invariants of memory as properties of control.
//!
//! An invariant looks at memory proper while stores wait in buffers. Whoever goes backward from bad situations, or
//! leaves out steps that no property sees, knows memory only once buffers are empty. For them there is one more thread,
//! which looks at memory in one step and stays where it was bad; and a thread that the invariant names may stay where
//! it is, as long as nobody has looked:
//!
//! ```text
//!    forbid x == 2 && P@l;
//!
//!    P          … ──▶ l ──load looked──▶ ∘ ──assume looked = 0──▶ l'
//!    observer   ──locked { assume x = 2; looked = 1 }──▶ bad
//!
//!    forbid observer@bad && P@l';
//! ```
//!
//! **Why it is the same question.** From a configuration that the invariant forbids, P goes to l', which changes no
//! memory, and then the observer, in whose buffer nothing waits, looks at memory proper. The other way round, P found
//! `looked = 0` in memory, since it never stores there, so it was at l' before the observer looked, and it never leaves
//! l'; its registers are as they were at l. So when the observer looked, P was at l, and memory was bad.
//!
//! Ids of the program stay, new ones come behind them. Fences are laid over the edges that were there before.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{
    BinaryOp, Domain, Edge, EdgeId, Expr, Initial, Location, LocationId, Micro, Op, OperationId, Order, Place,
    Placement, Point, PointId, Process, ProcessId, Program, Property, PropertyKind, Register, RegisterId, Situation,
    StateVar, Template,
};
use crate::source::Span;
use crate::util::{Idx, IndexVec, Memo};
use crate::watch::heed;

impl Situation {
    /// Whether it looks at memory.
    pub(crate) fn sees_memory(&self) -> bool {
        !self.observed().1.is_empty()
    }

    /// The processes that it names or reads registers of, and the locations that it looks at.
    pub(crate) fn observed(&self) -> (BTreeSet<ProcessId>, BTreeSet<LocationId>) {
        let mut processes: BTreeSet<ProcessId> = self.at.iter().map(|it| it.0).collect();
        let mut locations = BTreeSet::new();
        self.condition.for_each_var(&mut |variable| match variable {
            StateVar::Register(process, _) => drop(processes.insert(*process)),
            StateVar::Memory(x) => drop(locations.insert(*x)),
        });
        (processes, locations)
    }
}

impl Program {
    /// Whether a property looks at memory proper at any time.
    pub fn has_invariants(&self) -> bool {
        self.properties.iter().any(|it| it.kind == PropertyKind::Invariant)
    }

    /// The same question without invariants: the program with an observer. Properties and situations keep their places.
    ///
    /// # Errors
    /// A process of which an invariant reads registers wherever it is, beside a fence too.
    pub(crate) fn with_observer(&self, placement: &Placement) -> Result<Self, ProcessId> {
        if let Some(process) = self.unobservable(placement) {
            return Err(process);
        }
        let mut maker = Maker::new(self);
        let properties = self.properties.iter().map(|it| maker.property(it)).collect();
        let mut program = maker.program;
        program.properties = properties;
        Ok(program)
    }

    /// A process of which an invariant reads registers wherever it is, beside a fence too.
    pub(crate) fn unobservable(&self, placement: &Placement) -> Option<ProcessId> {
        self.properties.iter().find_map(|it| self.unplaced(it, placement))
    }

    fn unplaced(&self, property: &Property, placement: &Placement) -> Option<ProcessId> {
        let is_fenced = |process: &ProcessId| placement.iter().any(|it| self.edges[it.0.edge].process == *process);
        let situations = property.situations.iter().filter(|it| it.sees_memory());
        situations.filter(|_| property.kind == PropertyKind::Invariant).find_map(|situation| {
            let (processes, _) = situation.observed();
            processes.into_iter().find(|process| situation.points_of(*process).is_none() && is_fenced(process))
        })
    }
}

struct Maker {
    program: Program,
    observer: ProcessId,
    /// Whether somebody has looked, if somebody asks.
    looked: Option<LocationId>,
    /// Where the observer remembers what a location held.
    seen: BTreeMap<LocationId, RegisterId>,
    /// For each point, where a process stays that was there.
    stays: BTreeMap<PointId, PointId>,
    /// Where a process remembers whether somebody has looked.
    flags: BTreeMap<ProcessId, RegisterId>,
    n_operations: usize,
    span: Span,
}

impl Maker {
    fn new(of: &Program) -> Self {
        let mut program = Program { memo: Memo::default(), ..of.clone() };
        let span =
            of.properties.iter().find(|it| it.kind == PropertyKind::Invariant).map_or(Span::default(), |it| it.span);
        let name = free_name(of, "observer");
        let template = program.templates.push(Template::listed(name.clone(), span));
        let entry = program.points.next_index();
        let (registers, scopes) = (IndexVec::new(), BTreeMap::new());
        let observer = program.processes.push(Process { name, template, entry, registers, scopes, span });
        let n_operations = of.edges.iter().map(|it| it.operation.index() + 1).max().unwrap_or(0);
        let (seen, stays, flags) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut maker = Self { program, observer, looked: None, seen, stays, flags, n_operations, span };
        maker.point(observer);
        maker
    }

    fn property(&mut self, property: &Property) -> Property {
        if property.kind != PropertyKind::Invariant {
            return property.clone();
        }
        self.span = property.span;
        let situations = property.situations.iter().map(|it| match it.sees_memory() {
            true => self.situation(it),
            false => it.clone(),
        });
        Property { situations: situations.collect(), kind: PropertyKind::Control, ..property.clone() }
    }

    fn situation(&mut self, situation: &Situation) -> Situation {
        heed(64);
        let (processes, locations) = situation.observed();
        let mut at: Vec<(ProcessId, Vec<PointId>)> = Vec::new();
        for &process in &processes {
            let points = situation.points_of(process).map_or_else(|| self.points_of(process), <[PointId]>::to_vec);
            at.push((process, points.iter().map(|&point| self.stay(process, point)).collect()));
        }
        let (in_memory, others) = self.split(&situation.condition, &locations);
        let load = |x: &LocationId| Micro::Load(self.seen[x], Place::Fixed(*x));
        let mut body: Vec<Micro> = locations.iter().map(load).collect();
        body.extend(in_memory.map(Micro::Assume));
        body.extend(self.looked.filter(|_| !processes.is_empty()).map(|it| Micro::Store(Place::Fixed(it), Expr::TRUE)));
        let bad = self.point(self.observer);
        self.edge(self.program.processes[self.observer].entry, bad, Op::Locked(body));
        at.push((self.observer, vec![bad]));
        Situation { at, condition: others }
    }

    /// The part of a condition that the observer sees in memory and that always has a value, if there is one, and the
    /// rest, over what it remembers.
    fn split(
        &mut self,
        condition: &Expr<StateVar>,
        locations: &BTreeSet<LocationId>,
    ) -> (Option<Expr<RegisterId>>, Expr<StateVar>) {
        for &x in locations {
            let Location { name, domain, .. } = self.program.locations[x].clone();
            let least = domain.bounds().map_or(0, |bounds| bounds.0);
            let registers = &mut self.program.processes[self.observer].registers;
            let register = Register { name, domain, initial: Initial::Value(least), span: self.span };
            self.seen.entry(x).or_insert_with(|| registers.push(register));
        }
        let mut parts = Vec::new();
        conjuncts(condition, &mut parts);
        let (in_memory, others): (Vec<_>, Vec<_>) = parts.into_iter().partition(|it| is_of_memory(it));
        let all =
            |parts: Vec<Expr<StateVar>>| parts.into_iter().reduce(|all, part| Expr::binary(BinaryOp::And, all, part));
        let in_memory = all(in_memory.into_iter().cloned().collect()).map(|it| {
            it.map(&mut |variable| match variable {
                StateVar::Memory(x) => self.seen[x],
                StateVar::Register(..) => unreachable!("it is about memory only"),
            })
        });
        let others = others.into_iter().map(|it| {
            it.map(&mut |variable| match *variable {
                StateVar::Memory(x) => StateVar::Register(self.observer, self.seen[&x]),
                it @ StateVar::Register(..) => it,
            })
        });
        (in_memory, all(others.collect()).unwrap_or(Expr::TRUE))
    }

    /// All points of a process that were there before.
    fn points_of(&self, process: ProcessId) -> Vec<PointId> {
        let made: BTreeSet<PointId> = self.stays.values().flat_map(|&it| [before(it), it]).collect();
        let points = self.program.points.iter_enumerated().filter(|(_, it)| it.process == process);
        points.map(|it| it.0).filter(|it| !made.contains(it)).collect()
    }

    /// Where a process stays that was at a point.
    fn stay(&mut self, process: ProcessId, point: PointId) -> PointId {
        if let Some(&stays) = self.stays.get(&point) {
            return stays;
        }
        let looked = self.looked();
        let registers = &mut self.program.processes[process].registers;
        let register =
            Register { name: "$looked".to_owned(), domain: Domain::Bool, initial: Initial::Value(0), span: self.span };
        let flag = *self.flags.entry(process).or_insert_with(|| registers.push(register));
        let between = self.point(process);
        let stays = self.point(process);
        // It may still go there.
        self.program.points[point].is_end = false;
        self.edge(point, between, Op::Load(flag, Place::Fixed(looked)));
        self.edge(between, stays, Op::Assume(Expr::binary(BinaryOp::Eq, Expr::Var(flag), Expr::Const(0))));
        self.stays.insert(point, stays);
        stays
    }

    /// Where it is kept whether somebody has looked.
    fn looked(&mut self) -> LocationId {
        let name = free_name(&self.program, "looked");
        let (domain, initial, span) = (Domain::Bool, Initial::Value(0), self.span);
        let locations = &mut self.program.locations;
        *self.looked.get_or_insert_with(|| locations.push(Location { name, domain, initial, span }))
    }

    fn point(&mut self, process: ProcessId) -> PointId {
        self.program.points.push(Point { process, labels: Vec::new(), edges: Vec::new(), is_end: false })
    }

    fn edge(&mut self, from: PointId, to: PointId, op: Op) {
        let process = self.program.points[from].process;
        let operation = OperationId::from_usize(self.n_operations);
        self.n_operations += 1;
        let (order, span, call) = (Order::default(), self.span, None);
        let edge: EdgeId =
            self.program.edges.push(Edge { process, from, to, op, order, span, operation, call, allocates: None });
        self.program.points[from].edges.push(edge);
    }
}

/// The point between one and where a process stays.
fn before(stays: PointId) -> PointId {
    PointId::from_usize(stays.index() - 1)
}

fn free_name(program: &Program, wanted: &str) -> String {
    let locations = program.locations.iter().map(|it| &it.name).chain(program.arrays.iter().map(|it| &it.name));
    let threads = program.processes.iter().map(|it| &it.name).chain(program.templates.iter().map(|it| &it.name));
    let taken: BTreeSet<&String> = locations.chain(threads).collect();
    let mut name = wanted.to_owned();
    while taken.contains(&name) {
        name.push('_');
    }
    name
}

fn conjuncts<'e>(condition: &'e Expr<StateVar>, out: &mut Vec<&'e Expr<StateVar>>) {
    match condition {
        Expr::Binary(BinaryOp::And, left, right) => {
            conjuncts(left, out);
            conjuncts(right, out);
        }
        Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) => out.push(condition),
    }
}

/// Whether it is about memory only, and never divides.
fn is_of_memory(expr: &Expr<StateVar>) -> bool {
    match expr {
        Expr::Const(_) | Expr::Var(StateVar::Memory(_)) => true,
        Expr::Var(StateVar::Register(..)) => false,
        Expr::Unary(_, operand) => is_of_memory(operand),
        Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => false,
        Expr::Binary(_, left, right) => is_of_memory(left) && is_of_memory(right),
    }
}
