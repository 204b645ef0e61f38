//! A representative of any number of threads, as its [members](super::members) lie in it.

use std::collections::BTreeSet;
use std::mem::{Discriminant, discriminant};

use crate::memory::{Access, Machine};
use crate::program::{
    EdgeId, Expr, FenceKind, Indexed, Initial, LocationId, Op, Order, Place, PointId, ProcessId, Program, Register,
    RegisterId, Side, Situation, StateVar, Value,
};
use crate::system::members::{Halt, Member, Part, Waits, next, refused};
use crate::system::{Action, Control, Move, State, System};
use crate::util::{Idx, IndexVec};
use crate::watch::heed;

/// More local steps than these do not follow one after the other.
const MAX_LOCAL: usize = 10_000;

/// A representative.
pub(super) struct Layout<'a, M> {
    pub(super) system: System<'a, M>,
    /// By index, those of the families.
    pub(super) processes: Vec<Vec<ProcessId>>,
    /// By index, those of the arrays with one writer for each cell.
    cells: Vec<Vec<LocationId>>,
    /// The other locations.
    shared: Vec<LocationId>,
    /// Those of them of which nothing is known.
    arbitrary: BTreeSet<LocationId>,
    /// What memory holds where nothing else is said.
    contents: Vec<Value>,
    /// The points and edges of each process.
    points: IndexVec<ProcessId, Vec<PointId>>,
    edges: IndexVec<ProcessId, Vec<EdgeId>>,
    /// The registers of each family that hold a position.
    pub(super) positions: Vec<Vec<RegisterId>>,
    /// What is forbidden of threads that are told apart.
    pub(super) forbidden: Vec<Situation>,
    /// Where threads stop because they are looked at: points of parts, or all.
    watched: BTreeSet<(usize, Option<PointId>)>,
}

/// What an edge loads that is not the member's own.
pub(super) enum Loaded {
    /// A cell of the thread with this index, which is in this register.
    Other(LocationId, usize, RegisterId, usize),
    /// What anybody may have written.
    Arbitrary(LocationId),
}

/// What threads have in common that differ in their index.
#[derive(PartialEq, Eq)]
pub(super) struct Shape {
    parts: Vec<ShapeOfPart>,
    n_cells: usize,
}

#[derive(PartialEq, Eq)]
struct ShapeOfPart {
    entry: usize,
    n_points: usize,
    n_registers: usize,
    /// Where edges lead, and what they do.
    edges: Vec<(usize, usize, Discriminant<Op>)>,
    positions: Vec<RegisterId>,
}

impl<'a, M: Machine> Layout<'a, M> {
    pub(super) fn new(
        indexed: &Indexed,
        system: System<'a, M>,
        is_position: &dyn Fn(&Register) -> bool,
    ) -> Result<Self, Halt> {
        let program = system.flow.program;
        let (processes, n) = members(program, indexed)?;
        let cells = own_cells(program, indexed, n);
        let is_own = |x: &LocationId| cells.iter().flatten().any(|cell| cell == x);
        let shared: Vec<LocationId> = program.locations().indices().filter(|x| !is_own(x)).collect();
        let is_arbitrary = |&&x: &&LocationId| {
            program.locations()[x].initial == Initial::Any
                || program.edges().iter().any(|edge| program.may_write(&edge.op, x))
        };
        let arbitrary: BTreeSet<LocationId> = shared.iter().filter(is_arbitrary).copied().collect();
        let first = |initial, lo| if let Initial::Value(value) = initial { value } else { lo };
        let contents = program.locations().iter();
        let contents = contents.map(|it| first(it.initial, it.domain.bounds().map_or(0, |it| it.0))).collect();
        let of = |process: ProcessId| program.points().iter_enumerated().filter(move |it| it.1.process == process);
        let points = program.processes().indices().map(|it| of(it).map(|it| it.0).collect()).collect();
        let of = |process: ProcessId| program.edges().iter_enumerated().filter(move |it| it.1.process == process);
        let edges = program.processes().indices().map(|it| of(it).map(|it| it.0).collect()).collect();
        let positions = processes[1].iter().map(|&process| {
            let registers = program.processes()[process].registers.iter_enumerated();
            registers.filter(|it| is_position(it.1)).map(|it| it.0).collect()
        });
        let positions = positions.collect();
        let forbidden = forbidden(program, indexed, &arbitrary)?;
        let watched = BTreeSet::new();
        let made = Self {
            system,
            processes,
            cells,
            shared,
            arbitrary,
            contents,
            points,
            edges,
            positions,
            forbidden,
            watched,
        };
        made.check_blocks().map(|()| made)
    }

    /// Atomic operations touch what is the member's own.
    fn check_blocks(&self) -> Result<(), Halt> {
        let program = self.system.flow.program;
        for (index, processes) in self.processes.iter().enumerate() {
            let is_else = |x: LocationId| {
                let mut others = self.cells.iter().enumerate().filter(|it| it.0 != index);
                self.arbitrary.contains(&x) || others.any(|it| it.1.contains(&x))
            };
            for edge in program.edges().iter().filter(|edge| processes.contains(&edge.process)) {
                let touches = |x: LocationId| program.may_read(&edge.op, x) || program.may_write(&edge.op, x);
                let is_block = matches!(edge.op, Op::Rmw { .. } | Op::Locked(_));
                if is_block && program.locations().indices().any(|x| is_else(x) && touches(x)) {
                    return refused("an atomic operation is on what others write");
                }
            }
        }
        Ok(())
    }

    /// What members look like, each that is told apart.
    pub(super) fn shapes(&self) -> Vec<Shape> {
        let program = self.system.flow.program;
        let of_part = |(&process, positions): (&ProcessId, &Vec<RegisterId>)| {
            let edges = self.edges[process].iter().map(|&edge| {
                let edge = &program.edges()[edge];
                (self.ordinal(process, edge.from), self.ordinal(process, edge.to), discriminant(&edge.op))
            });
            let it = &program.processes()[process];
            ShapeOfPart {
                entry: self.ordinal(process, it.entry),
                n_points: self.points[process].len(),
                n_registers: it.registers.len(),
                edges: edges.collect(),
                positions: positions.clone(),
            }
        };
        let of_member = |processes: &Vec<ProcessId>| Shape {
            parts: processes.iter().zip(&self.positions).map(of_part).collect(),
            n_cells: self.cells[0].len(),
        };
        self.processes.iter().skip(1).step_by(2).map(of_member).collect()
    }

    fn ordinal(&self, process: ProcessId, point: PointId) -> usize {
        self.points[process].iter().position(|it| *it == point).expect("points of a process are its own")
    }

    /// Whether a member has as many threads and cells as there are.
    pub(super) fn has_parts(&self, member: &Member) -> bool {
        member.parts.len() == self.processes[1].len() && member.cells.len() == self.cells[1].len()
    }

    /// Whether a thread may be where it is said to be, and has its registers.
    pub(super) fn has_control(&self, process: ProcessId, part: &Part) -> bool {
        let is_edge = |edge: EdgeId, side: Side| {
            let edge = self.edges[process].get(edge.index());
            edge.is_some_and(|&edge| self.system.flow.placement.get(edge, side).is_some())
        };
        let is_there = match part.control {
            Control::At(point) => point.index() < self.points[process].len(),
            Control::Ready(edge) => is_edge(edge, Side::Before),
            Control::Done(edge) => is_edge(edge, Side::After),
        };
        is_there && part.registers.len() == self.system.flow.program.processes()[process].registers.len()
    }

    /// Whether there is what a store waits for.
    pub(super) fn has_place(&self, waits: Waits) -> bool {
        match waits {
            Waits::Own(cell, _) => cell < self.cells[1].len(),
            Waits::Shared(x, _) => x < self.shared.len(),
            Waits::Marker => true,
        }
    }

    /// Control as it is counted within a thread.
    fn relative(&self, process: ProcessId, control: Control) -> Control {
        let edge = |edge: EdgeId| {
            let found = self.edges[process].iter().position(|it| *it == edge);
            EdgeId::from_usize(found.expect("edges of a process are its own"))
        };
        match control {
            Control::At(point) => Control::At(PointId::from_usize(self.ordinal(process, point))),
            Control::Ready(it) => Control::Ready(edge(it)),
            Control::Done(it) => Control::Done(edge(it)),
        }
    }

    /// Control as the program counts it.
    pub(super) fn absolute(&self, process: ProcessId, control: Control) -> Control {
        match control {
            Control::At(point) => Control::At(self.points[process][point.index()]),
            Control::Ready(edge) => Control::Ready(self.edges[process][edge.index()]),
            Control::Done(edge) => Control::Done(self.edges[process][edge.index()]),
        }
    }

    /// The configuration with these members at their places; a location may hold something else.
    pub(super) fn state(&self, placed: &[(usize, &Member)], found: Option<(LocationId, Value)>) -> State<M::State> {
        let program = self.system.flow.program;
        let mut contents = self.contents.clone();
        for (place, member) in placed {
            self.cells[2 * place + 1].iter().zip(&member.cells).for_each(|(x, value)| contents[x.index()] = *value);
        }
        found.into_iter().for_each(|(x, value)| contents[x.index()] = value);
        let mut state = State {
            controls: program.processes().iter().map(|it| Control::At(it.entry)).collect(),
            registers: program.processes().iter().map(|it| vec![0; it.registers.len()]).collect(),
            memory: self.system.machine.begin(program, contents),
        };
        for (place, member) in placed {
            for (&process, part) in self.processes[2 * place + 1].iter().zip(&member.parts) {
                state.controls[process] = self.absolute(process, part.control);
                state.registers[process].clone_from(&part.registers);
                for waits in &part.waiting {
                    let access = self.access(*place, *waits);
                    let done = self.system.machine.access(&state.memory, process, access).into_iter().next();
                    state.memory = done.expect("a store waits for nothing").state;
                }
            }
        }
        state
    }

    /// How something came to wait.
    fn access(&self, place: usize, waits: Waits) -> Access<'static> {
        match waits {
            Waits::Own(cell, value) => Access::Store(self.cells[2 * place + 1][cell], value, Order::default()),
            Waits::Shared(x, value) => Access::Store(self.shared[x], value, Order::default()),
            Waits::Marker => Access::Fence(FenceKind::StoreStore, Order::default()),
        }
    }

    /// The member at a place of a configuration.
    pub(super) fn member(&self, place: usize, state: &State<M::State>) -> Member {
        let own = &self.cells[2 * place + 1];
        let waits = |store: Option<(LocationId, Value)>| match store {
            Some((x, value)) => match own.iter().position(|it| *it == x) {
                Some(cell) => Waits::Own(cell, value),
                None => Waits::Shared(self.shared.iter().position(|it| *it == x).expect("it is shared"), value),
            },
            None => Waits::Marker,
        };
        let shown = |process| self.system.machine.shown(&state.memory, process);
        let part = |&process: &ProcessId| Part {
            control: self.relative(process, state.controls[process]),
            registers: state.registers[process].clone(),
            waiting: shown(process).pending().iter().map(|it| waits(it.store())).collect(),
        };
        let parts = self.processes[2 * place + 1].iter().map(part).collect();
        Member { parts, cells: own.iter().map(|&x| self.system.machine.value(&state.memory, x)).collect() }
    }

    /// What an edge of a member loads that is not its own.
    pub(super) fn loaded(
        &self,
        (place, part): (usize, usize),
        edge: EdgeId,
        registers: &[Value],
    ) -> Result<Option<Loaded>, Halt> {
        let program = self.system.flow.program;
        let Op::Load(_, at) = &program.edges()[edge].op else { return Ok(None) };
        let x = match at {
            Place::Fixed(x) => Some(*x),
            Place::Cell(array, index) => {
                let value = index.eval(&|register: &RegisterId| registers[register.index()]);
                value.ok().and_then(|it| program.arrays()[*array].cell(it))
            }
        };
        // An index out of range goes wrong.
        let Some(x) = x else { return Ok(None) };
        if self.arbitrary.contains(&x) {
            return Ok(Some(Loaded::Arbitrary(x)));
        }
        let find = |cells: &Vec<LocationId>| cells.iter().position(|it| *it == x);
        let found = self.cells.iter().enumerate().find_map(|(index, cells)| Some((index, find(cells)?)));
        let Some((index, cell)) = found.filter(|it| it.0 != 2 * place + 1) else { return Ok(None) };
        match at {
            Place::Cell(_, Expr::Var(register)) if self.positions[part].contains(register) => {
                Ok(Some(Loaded::Other(x, index, *register, cell)))
            }
            Place::Cell(..) | Place::Fixed(_) => refused("a cell of another is not found by a loop"),
        }
    }

    /// Where a thread gets by local steps that nobody can see: as far as it can.
    pub(super) fn local_steps(&self, process: ProcessId, state: State<M::State>) -> Result<Vec<State<M::State>>, Halt> {
        let mut seen = BTreeSet::from([(state.controls[process], state.registers[process].clone())]);
        let mut todo = vec![state];
        let mut landed = Vec::new();
        while let Some(state) = todo.pop() {
            heed(16);
            if !self.is_silent(process, state.controls[process]) {
                landed.push(state);
                continue;
            }
            let mut is_stuck = true;
            for (step, outcome) in self.system.steps_of(&state, process) {
                if !matches!(step.action, Action::Edge { .. }) {
                    continue;
                }
                is_stuck = false;
                let next = next(outcome)?;
                if seen.insert((next.controls[process], next.registers[process].clone())) {
                    todo.push(next);
                }
            }
            if is_stuck {
                landed.push(state);
            }
            if seen.len() > MAX_LOCAL {
                return refused("too many local steps follow each other");
            }
        }
        if landed.is_empty() { refused("a thread goes round without looking at memory") } else { Ok(landed) }
    }

    /// Whether all steps from there are local, and nobody looks at the thread there.
    fn is_silent(&self, process: ProcessId, control: Control) -> bool {
        let program = self.system.flow.program;
        let moves = self.system.flow.moves(control);
        let is_local = |it: &(Move, Control)| match it.0 {
            Move::Edge(edge) => program.edges()[edge].op.is_local(),
            Move::Fence(..) => false,
        };
        !moves.is_empty() && moves.iter().all(is_local) && !self.is_observed(process, control)
    }

    fn is_observed(&self, process: ProcessId, control: Control) -> bool {
        let part = self.processes.iter().find_map(|it| it.iter().position(|it| *it == process)).unwrap_or(0);
        let at = self.relative(process, control).point();
        self.watched.contains(&(part, None)) || at.is_some_and(|at| self.watched.contains(&(part, Some(at))))
    }

    /// Where something is forbidden, or everywhere; of each part.
    pub(super) fn observed(&self) -> BTreeSet<(usize, Option<PointId>)> {
        let mut all = BTreeSet::new();
        for processes in self.processes.iter().skip(1).step_by(2) {
            for (part, &process) in processes.iter().enumerate() {
                for situation in &self.forbidden {
                    all.extend(self.looks_at(process, situation).into_iter().map(|at| (part, at)));
                }
            }
        }
        all
    }

    /// Where a situation looks at a thread: at some points, or at its registers wherever it is.
    fn looks_at(&self, process: ProcessId, situation: &Situation) -> Vec<Option<PointId>> {
        if let Some((_, points)) = situation.at.iter().find(|at| at.0 == process) {
            return points.iter().map(|&it| Some(PointId::from_usize(self.ordinal(process, it)))).collect();
        }
        let mut reads = false;
        situation.condition.for_each_var(&mut |it| {
            reads |= matches!(it, StateVar::Register(owner, _) if *owner == process);
        });
        if reads { vec![None] } else { Vec::new() }
    }

    /// Threads are looked at where members are, at whichever place: they stop there everywhere.
    pub(super) fn watch(&mut self, observed: &BTreeSet<(usize, Option<PointId>)>) {
        self.watched.clone_from(observed);
    }

    /// Where a thread may be, as it is counted within it.
    pub(super) fn controls(&self, process: ProcessId) -> Vec<Control> {
        let points = (0..self.points[process].len()).map(|it| Control::At(PointId::from_usize(it)));
        let edges = self.edges[process].iter().enumerate().flat_map(|(i, &edge)| {
            let has = |side| self.system.flow.placement.get(edge, side).is_some();
            let before = has(Side::Before).then_some(Control::Ready(EdgeId::from_usize(i)));
            before.into_iter().chain(has(Side::After).then_some(Control::Done(EdgeId::from_usize(i))))
        });
        points.chain(edges).collect()
    }
}

/// By index, the threads of all families; and how many indices there are.
fn members(program: &Program, indexed: &Indexed) -> Result<(Vec<Vec<ProcessId>>, usize), Halt> {
    let mut all: Vec<Vec<ProcessId>> = Vec::new();
    for process in program.processes().indices() {
        let Some(index) = program.index_of(process, &indexed.families) else {
            return refused("there are threads without an index");
        };
        all.resize_with(all.len().max(index + 1), Vec::new);
        all[index].push(process);
    }
    let n = all.len();
    Ok((all, n))
}

/// By index, the cells of arrays of which nobody writes another cell than the own.
fn own_cells(program: &Program, indexed: &Indexed, n: usize) -> Vec<Vec<LocationId>> {
    let is_by_owner = |index: usize, x: LocationId| {
        let mut writers = program.edges().iter().filter(|edge| program.may_write(&edge.op, x));
        writers.all(|edge| program.index_of(edge.process, &indexed.families) == Some(index))
    };
    let of_threads = program.arrays().iter().filter(|it| indexed.arrays.contains(&it.name));
    let own = of_threads.filter(|it| it.cells().enumerate().all(|(index, x)| is_by_owner(index, x)));
    let arrays: Vec<Vec<LocationId>> = own.map(|it| it.cells().collect()).collect();
    (0..n).map(|index| arrays.iter().map(|cells| cells[index]).collect()).collect()
}

/// What is forbidden of threads that are told apart.
fn forbidden(program: &Program, indexed: &Indexed, arbitrary: &BTreeSet<LocationId>) -> Result<Vec<Situation>, Halt> {
    let all = program.properties().iter().flat_map(|it| &it.situations);
    let told = all.filter(|it| program.indices_of(it, indexed).iter().all(|index| index % 2 == 1));
    let told: Vec<Situation> = told.cloned().collect();
    let mut looks = false;
    for situation in &told {
        situation.condition.for_each_var(&mut |it| looks |= matches!(it, StateVar::Memory(x) if arbitrary.contains(x)));
    }
    if looks { refused("a property looks at what any thread may write") } else { Ok(told) }
}
