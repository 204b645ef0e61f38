//! The only way to make a [`Program`].
//!
//! The builder hands out ids and takes edges; ids of one builder cannot point at nothing, and [`Builder::finish`]
//! checks what types do not: that an edge stays in its process, that registers exist there, that initial values lie in
//! their domains. Such a mistake is a defect of the caller, so it panics; mistakes of a user are found by lowering.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::program::{
    Array, ArrayId, Called, Domain, Edge, EdgeId, Expr, Initial, Location, LocationId, Micro, Misuse, NoHang, Op,
    OperationId, Order, Place, Point, PointId, Process, ProcessId, Program, Property, Register, RegisterId, RmwVar,
    StateVar, Template, TemplateId, Value,
};
use crate::source::{Source, Span};
use crate::util::{Idx, IndexVec, Memo};
use crate::watch::heed;

/// A program in the making.
#[derive(Clone, Debug)]
pub struct Builder {
    program: Program,
    /// The operations of the text so far, by their places.
    operations: FxHashMap<Span, OperationId>,
}

impl Builder {
    /// A program without anything.
    pub fn new(source: Source) -> Self {
        let program = Program {
            source,
            locations: IndexVec::new(),
            arrays: IndexVec::new(),
            templates: IndexVec::new(),
            processes: IndexVec::new(),
            points: IndexVec::new(),
            edges: IndexVec::new(),
            properties: IndexVec::new(),
            no_hang: None,
            plain: BTreeSet::new(),
            waits: BTreeSet::new(),
            misuses: BTreeMap::new(),
            hints: Vec::new(),
            indexed: None,
            memo: Memo::default(),
        };
        Self { program, operations: FxHashMap::default() }
    }

    /// A program of the text of another one, with the same threads in it, but without anything else yet.
    pub fn like(other: &Program) -> Self {
        let mut builder = Self::new(other.source().clone());
        builder.program.templates = other.templates().clone();
        builder
    }

    /// Says which text the places are in.
    pub fn set_source(&mut self, source: &Source) {
        self.program.source = source.clone();
    }

    /// The program so far.
    pub fn so_far(&self) -> &Program {
        &self.program
    }

    /// A shared location.
    pub fn location(&mut self, location: Location) -> LocationId {
        assert_initial(location.domain, location.initial, &location.name);
        self.program.locations.push(location)
    }

    /// A shared array of `cells` initial values; the name of the pattern is the array's.
    pub fn array(&mut self, pattern: &Location, cells: &[Initial]) -> ArrayId {
        let len = u32::try_from(cells.len()).expect("fewer than 2^32 cells");
        self.grid(pattern, &[len], cells)
    }

    /// The same with several dimensions, row by row: so many cells in each.
    pub fn grid(&mut self, pattern: &Location, shape: &[u32], cells: &[Initial]) -> ArrayId {
        assert!(!cells.is_empty(), "array `{}` has a cell", pattern.name);
        let len = u32::try_from(cells.len()).expect("fewer than 2^32 cells");
        assert_eq!(shape.iter().product::<u32>(), len, "the dimensions of `{}` make its cells", pattern.name);
        let first = self.program.locations.next_index();
        for (number, &initial) in (0..).zip(cells) {
            let name = cell_name(&pattern.name, shape, number);
            self.location(Location { name, initial, ..pattern.clone() });
        }
        self.program.arrays.push(Array { name: pattern.name.clone(), first, len, shape: shape.to_vec() })
    }

    /// Says that a location is not atomic.
    pub fn set_plain(&mut self, location: LocationId) {
        self.program.plain.insert(location);
    }

    /// Says which values a location may hold; of an array, all cells.
    pub(crate) fn set_values(&mut self, location: LocationId, domain: Domain) {
        let array = self.program.arrays.iter().find(|it| it.first == location);
        let n_cells = array.map_or(1, |it| it.len as usize);
        for cell in location.index()..location.index() + n_cells {
            self.program.locations[LocationId::from_usize(cell)].domain = domain;
        }
    }

    /// A thread of the text.
    pub fn template(&mut self, template: Template) -> TemplateId {
        self.program.templates.push(template)
    }

    /// A process that is an instance of a thread of the text, with its entry point.
    pub fn process(&mut self, name: String, template: TemplateId, span: Span) -> ProcessId {
        assert!(template < self.program.templates.next_index(), "the thread of a process exists");
        let process = self.program.processes.next_index();
        let entry = self.point(process);
        self.program.processes.push(Process {
            name,
            template,
            entry,
            registers: IndexVec::new(),
            scopes: BTreeMap::new(),
            span,
        })
    }

    /// A register of a process.
    pub fn register(&mut self, process: ProcessId, register: Register) -> RegisterId {
        assert_initial(register.domain, register.initial, &register.name);
        self.program.processes[process].registers.push(register)
    }

    /// Says how what an edge does to memory is ordered.
    pub fn set_order(&mut self, edge: EdgeId, order: Order) {
        self.program.edges[edge].order = order;
    }

    /// Says that a place comes to be at an edge that does nothing.
    pub fn set_allocates(&mut self, edge: EdgeId, place: Place) {
        self.program.edges[edge].allocates = Some(place);
    }

    /// Says what it means that the assertion of an edge fails.
    pub fn set_misuse(&mut self, edge: EdgeId, misuse: Misuse) {
        self.program.misuses.insert(edge, misuse);
    }

    /// Says what a location holds at first.
    pub(crate) fn set_initial(&mut self, location: LocationId, value: Value) {
        self.program.locations[location].initial = Initial::Value(value);
    }

    /// Says that an edge comes from a call.
    pub fn called(&mut self, edge: EdgeId, call: &Arc<Called>) {
        self.program.edges[edge].call = Some(Arc::clone(call));
    }

    /// Says that a register is declared in an inlined function.
    pub fn scope(&mut self, process: ProcessId, register: RegisterId, function: String) {
        self.program.processes[process].scopes.insert(register, function);
    }

    /// Gives a register the domain that was inferred for it.
    pub fn set_domain(&mut self, process: ProcessId, register: RegisterId, domain: Domain) {
        self.program.processes[process].registers[register].domain = domain;
    }

    /// A control point of a process.
    pub fn point(&mut self, process: ProcessId) -> PointId {
        self.program.points.push(Point { process, labels: Vec::new(), edges: Vec::new(), is_end: false })
    }

    /// Names a control point.
    pub fn label(&mut self, point: PointId, label: impl Into<String>) {
        self.program.points[point].labels.push(label.into());
    }

    /// The process has terminated when it gets here.
    pub fn end(&mut self, point: PointId) {
        self.program.points[point].is_end = true;
    }

    /// An edge between two points of one process. Edges of one place of the text are copies of one operation.
    pub fn edge(&mut self, from: PointId, op: Op, to: PointId, span: Span) -> EdgeId {
        heed(2);
        let process = self.program.points[from].process;
        assert_eq!(process, self.program.points[to].process, "an edge stays in its process");
        let next = OperationId::from_usize(self.operations.len());
        let operation = *self.operations.entry(span).or_insert(next);
        let (order, call) = (Order::default(), None);
        let edge =
            self.program.edges.push(Edge { process, from, to, op, order, span, operation, call, allocates: None });
        self.program.points[from].edges.push(edge);
        edge
    }

    /// A property.
    pub fn property(&mut self, property: Property) {
        self.program.properties.push(property);
    }

    /// Says that what stands here waits for a condition: where it does not hold, all of it is done again.
    pub fn wait(&mut self, span: Span) {
        self.program.waits.insert(span);
    }

    /// Says that no run may hang.
    pub fn no_hang(&mut self, no_hang: NoHang) {
        self.program.no_hang = Some(no_hang);
    }

    /// A predicate offered to engines.
    pub fn hint(&mut self, hint: Expr<StateVar>) {
        self.program.hints.push(hint);
    }

    /// The program.
    pub fn finish(self) -> Program {
        let program = self.program;
        for process in &program.processes {
            for register in &process.registers {
                assert_initial(register.domain, register.initial, &register.name);
            }
        }
        for edge in &program.edges {
            let n_registers = program.processes[edge.process].registers.len();
            for_each_register(&edge.op, &mut |register| {
                assert!(register.index() < n_registers, "a register of an edge exists");
            });
        }
        for point in &program.points {
            assert!(!point.is_end || point.edges.is_empty(), "no edge leaves an end");
        }
        program
    }
}

fn assert_initial(domain: Domain, initial: Initial, name: &str) {
    match initial {
        Initial::Value(value) => assert!(domain.contains(value), "`{name}` starts in its domain"),
        Initial::Any => {}
    }
}

pub(crate) fn for_each_register(op: &Op, visit: &mut impl FnMut(RegisterId)) {
    let rmw = |expr: &Expr<RmwVar>, visit: &mut dyn FnMut(RegisterId)| {
        expr.for_each_var(&mut |var| match var {
            RmwVar::Old => {}
            RmwVar::Register(register) => visit(*register),
        });
    };
    match op {
        Op::Assume(expr) | Op::Assert(expr) => expr.for_each_var(&mut |r| visit(*r)),
        Op::Assign(register, expr) => {
            visit(*register);
            expr.for_each_var(&mut |r| visit(*r));
        }
        Op::Havoc(register, ..) => visit(*register),
        Op::Load(register, place) => {
            visit(*register);
            for_each_register_of_place(place, visit);
        }
        Op::Store(place, expr) => {
            for_each_register_of_place(place, visit);
            expr.for_each_var(&mut |r| visit(*r));
        }
        Op::Rmw { place, guard, write, into } => {
            for_each_register_of_place(place, visit);
            rmw(guard, visit);
            if let Some(write) = write {
                rmw(write, visit);
            }
            if let Some(register) = into {
                visit(*register);
            }
        }
        Op::Fence(_) => {}
        Op::Locked(body) => body.iter().for_each(|micro| for_each_register_of_micro(micro, visit)),
    }
}

fn for_each_register_of_micro(micro: &Micro, visit: &mut impl FnMut(RegisterId)) {
    match micro {
        Micro::Assume(expr) | Micro::Assert(expr) => expr.for_each_var(&mut |r| visit(*r)),
        Micro::Assign(register, expr) => {
            visit(*register);
            expr.for_each_var(&mut |r| visit(*r));
        }
        Micro::Havoc(register, ..) => visit(*register),
        Micro::Load(register, place) => {
            visit(*register);
            for_each_register_of_place(place, visit);
        }
        Micro::Store(place, expr) => {
            for_each_register_of_place(place, visit);
            expr.for_each_var(&mut |r| visit(*r));
        }
        Micro::Choose(branches) => {
            branches.iter().flatten().for_each(|micro| for_each_register_of_micro(micro, visit));
        }
    }
}

fn for_each_register_of_place(place: &Place, visit: &mut impl FnMut(RegisterId)) {
    match place {
        Place::Fixed(_) => {}
        Place::Cell(_, index) => index.for_each_var(&mut |r| visit(*r)),
    }
}

/// `a[1][0]`: the name of the cell with this number, the last index counting fastest.
pub(crate) fn cell_name(array: &str, shape: &[u32], number: u32) -> String {
    let mut indices = Vec::with_capacity(shape.len());
    let mut rest = number;
    for size in shape.iter().rev() {
        indices.push(rest % size);
        rest /= size;
    }
    indices.iter().rev().fold(array.to_owned(), |name, index| format!("{name}[{index}]"))
}
