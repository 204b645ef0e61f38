//! What an edge does to the registers of its process and to memory.

use std::collections::BTreeSet;

use crate::memory::{Access, Done, Machine};
use crate::program::{
    Edge, EdgeId, EvalError, Expr, FenceKind, LocationId, Micro, Op, Order, Place, Program, RegisterId, RmwVar, Value,
};
use crate::system::{Effect, Fault, State, System};
use crate::util::Idx;

/// Why an operation gives no configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stop {
    /// The program goes wrong here.
    Fault(Fault),
    /// A value beyond 64 bits.
    Overflow,
}

/// What an operation did, and registers and memory after it.
type After<S> = (Effect, Result<(Vec<Value>, S), Stop>);

/// Every outcome of an edge's operation; none where it has to wait.
pub(super) fn outcomes<M: Machine>(
    system: &System<'_, M>,
    state: &State<M::State>,
    edge: EdgeId,
) -> Vec<After<M::State>> {
    let local = Local::new(system.flow.program, edge);
    let acting = Acting { machine: &system.machine, memory: &state.memory, local };
    let registers = &state.registers[local.edge.process];
    match &local.edge.op {
        Op::Assume(_) if local.edge.is_acquire_fence() && system.machine.hears_acquire() => {
            acting.fence(FenceKind::StoreStore, registers)
        }
        // What only stands beside an access says nothing in a language.
        Op::Fence(kind) if system.machine.hears_acquire() && local.edge.order.of_fence(*kind).is_none() => {
            vec![(Effect::Local, Ok((registers.clone(), state.memory.clone())))]
        }
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => {
            let keep = |registers: Vec<Value>| (registers, state.memory.clone());
            local.run(registers).into_iter().map(|end| (Effect::Local, end.map(keep))).collect()
        }
        Op::Load(register, place) => match local.resolve(place, registers) {
            Ok(x) => acting.load(x, *register, registers),
            Err(stop) => vec![(Effect::Faulted, Err(stop))],
        },
        Op::Store(place, value) => match local.store(place, value, registers) {
            Ok((x, value)) => acting.store(x, value, registers),
            Err(stop) => vec![(Effect::Faulted, Err(stop))],
        },
        Op::Fence(kind) => acting.fence(*kind, registers),
        Op::Rmw { place, .. } => match local.resolve(place, registers) {
            Ok(x) => acting.update(x, registers),
            Err(stop) => vec![(Effect::Faulted, Err(stop))],
        },
        Op::Locked(body) => acting.locked(body, registers),
    }
}

/// An operation that acts on memory.
struct Acting<'a, M: Machine> {
    machine: &'a M,
    memory: &'a M::State,
    local: Local<'a>,
}

impl<M: Machine> Acting<'_, M> {
    fn access(&self, access: Access<'_>) -> Vec<Done<M::State>> {
        self.machine.access(self.memory, self.local.edge.process, access)
    }

    fn load(&self, x: LocationId, register: RegisterId, registers: &[Value]) -> Vec<After<M::State>> {
        let all = self.access(Access::Load(x, self.local.order_at(x))).into_iter();
        all.map(|done| {
            let value = done.read.expect("a load reads");
            let registers = self.local.assign(registers, register, value);
            (Effect::Load(x, value, done.origin), registers.map(|registers| (registers, done.state)))
        })
        .collect()
    }

    fn store(&self, x: LocationId, value: Value, registers: &[Value]) -> Vec<After<M::State>> {
        let all = self.access(Access::Store(x, value, self.local.order_at(x))).into_iter();
        all.map(|done| (Effect::Store(x, value, done.origin), Ok((registers.to_vec(), done.state)))).collect()
    }

    fn fence(&self, kind: FenceKind, registers: &[Value]) -> Vec<After<M::State>> {
        let all = self.access(Access::Fence(kind, self.local.edge.order)).into_iter();
        all.map(|done| (Effect::Fence(kind), Ok((registers.to_vec(), done.state)))).collect()
    }

    fn update(&self, x: LocationId, registers: &[Value]) -> Vec<After<M::State>> {
        // What goes wrong inside an update writes nothing.
        let written = |updated: Result<Updated, Stop>| updated.map_or(None, |updated| updated.new);
        let update = |old: Value| self.local.update(registers, x, old).map(written);
        let all = self.access(Access::Update(x, &update, self.local.edge.order)).into_iter();
        all.filter_map(|done| {
            let old = done.read.expect("an update reads");
            let end = self.local.update(registers, x, old)?;
            let new = end.as_ref().map_or(None, |updated| updated.new);
            Some((Effect::Rmw(x, old, new), end.map(|updated| (updated.registers, done.state))))
        })
        .collect()
    }

    fn locked(&self, body: &[Micro], registers: &[Value]) -> Vec<After<M::State>> {
        let process = self.local.edge.process;
        let Some(contents) = self.machine.lock(self.memory, process) else { return Vec::new() };
        let ends = run_block(&self.local, body, Block { registers: registers.to_vec(), contents }).into_iter();
        let after = |end: Block| (end.registers, self.machine.unlock(self.memory, process, end.contents));
        ends.map(|end| (Effect::Locked, end.map(after))).collect()
    }
}

/// What an atomic update does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Updated {
    /// The registers afterwards.
    pub registers: Vec<Value>,
    /// What it writes, if it writes.
    pub new: Option<Value>,
}

/// The part of an operation that concerns its own process only.
#[derive(Clone, Copy, Debug)]
pub struct Local<'a> {
    program: &'a Program,
    id: EdgeId,
    /// The edge.
    pub edge: &'a Edge,
}

impl<'a> Local<'a> {
    /// The operation of an edge.
    pub fn new(program: &'a Program, id: EdgeId) -> Self {
        Self { program, id, edge: &program.edges()[id] }
    }

    /// The order of its access to a location.
    pub fn order_at(&self, x: LocationId) -> Order {
        self.program.order_at(self.id, x)
    }

    /// Every outcome of an operation that touches registers only.
    pub fn run(&self, registers: &[Value]) -> Vec<Result<Vec<Value>, Stop>> {
        match &self.edge.op {
            Op::Assume(condition) => match self.eval(condition, registers) {
                Ok(0) => Vec::new(),
                Ok(_) => vec![Ok(registers.to_vec())],
                Err(stop) => vec![Err(stop)],
            },
            Op::Assert(condition) => vec![self.check(condition, registers).map(|()| registers.to_vec())],
            Op::Assign(register, value) => {
                vec![self.eval(value, registers).and_then(|value| self.assign(registers, *register, value))]
            }
            Op::Havoc(register, lo, hi) => (*lo..=*hi).map(|value| self.assign(registers, *register, value)).collect(),
            Op::Load(..) | Op::Store(..) | Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => {
                unreachable!("an operation on memory is not local")
            }
        }
    }

    /// The value of an expression.
    pub fn eval(&self, expr: &Expr<RegisterId>, registers: &[Value]) -> Result<Value, Stop> {
        expr.eval(&|register| registers[register.index()]).map_err(|error| self.stop(error))
    }

    /// A violation unless the condition holds.
    pub fn check(&self, condition: &Expr<RegisterId>, registers: &[Value]) -> Result<(), Stop> {
        match self.eval(condition, registers)? {
            0 => Err(Stop::Fault(Fault::Assertion(self.id))),
            _ => Ok(()),
        }
    }

    /// The registers with one of them changed; a value outside its range is a violation.
    pub fn assign(&self, registers: &[Value], register: RegisterId, value: Value) -> Result<Vec<Value>, Stop> {
        let mut registers = registers.to_vec();
        self.assign_in(&mut registers, register, value)?;
        Ok(registers)
    }

    /// Assigns to a register, where it is.
    fn assign_in(&self, registers: &mut [Value], register: RegisterId, value: Value) -> Result<(), Stop> {
        if !self.program.processes()[self.edge.process].registers[register].domain.contains(value) {
            return Err(Stop::Fault(Fault::RegisterRange(self.id, register, value)));
        }
        registers[register.index()] = value;
        Ok(())
    }

    /// The location that a place stands for; outside the array it is a violation.
    pub fn resolve(&self, place: &Place, registers: &[Value]) -> Result<LocationId, Stop> {
        match place {
            Place::Fixed(location) => Ok(*location),
            Place::Cell(array, index) => {
                let index = self.eval(index, registers)?;
                let cell = self.program.arrays()[*array].cell(index);
                cell.ok_or(Stop::Fault(Fault::Index(self.id, *array, index)))
            }
        }
    }

    /// What a store writes, and where; a value outside the range is a violation.
    pub fn store(
        &self,
        place: &Place,
        value: &Expr<RegisterId>,
        registers: &[Value],
    ) -> Result<(LocationId, Value), Stop> {
        let location = self.resolve(place, registers)?;
        let value = self.eval(value, registers)?;
        self.in_range(location, value)?;
        Ok((location, value))
    }

    /// Registers and new value after an atomic update that found `old` at `x`; `None` where the guard does not hold.
    pub fn update(&self, registers: &[Value], x: LocationId, old: Value) -> Option<Result<Updated, Stop>> {
        let Op::Rmw { guard, write, into, .. } = &self.edge.op else { unreachable!("the edge is an atomic update") };
        let value_of = |variable: &RmwVar| match variable {
            RmwVar::Old => old,
            RmwVar::Register(register) => registers[register.index()],
        };
        match guard.eval(&value_of) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) => return Some(Err(self.stop(error))),
        }
        let result = || {
            let new =
                write.as_ref().map(|write| write.eval(&value_of).map_err(|error| self.stop(error))).transpose()?;
            if let Some(new) = new {
                self.in_range(x, new)?;
            }
            let registers = match into {
                Some(register) => self.assign(registers, *register, old)?,
                None => registers.to_vec(),
            };
            Ok(Updated { registers, new })
        };
        Some(result())
    }

    fn in_range(&self, x: LocationId, value: Value) -> Result<(), Stop> {
        match self.program.locations()[x].domain.contains(value) {
            true => Ok(()),
            false => Err(Stop::Fault(Fault::LocationRange(self.id, x, value))),
        }
    }

    fn stop(&self, error: EvalError) -> Stop {
        match error {
            EvalError::DivisionByZero => Stop::Fault(Fault::DivisionByZero(self.id)),
            EvalError::Overflow => Stop::Overflow,
        }
    }
}

/// Registers and memory inside a locked block.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block {
    /// The registers of the process.
    pub registers: Vec<Value>,
    /// Memory, by location.
    pub contents: Vec<Value>,
}

/// What a locked block works on, and who wants to know what it does there.
pub trait Inside: Clone {
    /// Registers and memory.
    fn block(&mut self) -> &mut Block;
    /// It reads this location.
    fn reads(&mut self, x: LocationId);
    /// It writes this location.
    fn writes(&mut self, x: LocationId);
}

impl Inside for Block {
    fn block(&mut self) -> &mut Block {
        self
    }

    fn reads(&mut self, _: LocationId) {}

    fn writes(&mut self, _: LocationId) {}
}

/// Registers and memory inside a locked block, and what it has touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Registers and memory.
    pub block: Block,
    /// What it has read before it wrote it.
    pub read: BTreeSet<LocationId>,
    /// What it has written.
    pub written: BTreeSet<LocationId>,
}

impl From<Block> for Touched {
    fn from(block: Block) -> Self {
        Self { block, read: BTreeSet::new(), written: BTreeSet::new() }
    }
}

impl Inside for Touched {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn reads(&mut self, x: LocationId) {
        if !self.written.contains(&x) {
            self.read.insert(x);
        }
    }

    fn writes(&mut self, x: LocationId) {
        self.written.insert(x);
    }
}

/// Every way through a locked block.
pub fn run_block<B: Inside>(local: &Local<'_>, body: &[Micro], start: B) -> Vec<Result<B, Stop>> {
    let mut ends = Vec::new();
    run_on(local, body, start, &mut ends);
    ends
}

/// Goes through a block until there are several ways, then on each of them in turn.
fn run_on<B: Inside>(local: &Local<'_>, body: &[Micro], mut inside: B, ends: &mut Vec<Result<B, Stop>>) {
    for (i, micro) in body.iter().enumerate() {
        let rest = &body[i + 1..];
        match micro {
            Micro::Choose(branches) => {
                let mut middles = Vec::new();
                for branch in branches {
                    if !is_closed(local, branch, &inside.block().registers) {
                        run_on(local, branch, inside.clone(), &mut middles);
                    }
                }
                return middles.into_iter().for_each(|middle| match middle {
                    Ok(middle) => run_on(local, rest, middle, ends),
                    Err(stop) => ends.push(Err(stop)),
                });
            }
            Micro::Havoc(register, lo, hi) => {
                return (*lo..=*hi).for_each(|value| {
                    let mut middle = inside.clone();
                    match local.assign_in(&mut middle.block().registers, *register, value) {
                        Ok(()) => run_on(local, rest, middle, ends),
                        Err(stop) => ends.push(Err(stop)),
                    }
                });
            }
            Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Load(..) | Micro::Store(..) => {
                match run_micro(local, micro, &mut inside) {
                    Ok(true) => {}
                    Ok(false) => return,
                    Err(stop) => return ends.push(Err(stop)),
                }
            }
        }
    }
    ends.push(Ok(inside));
}

/// Whether a branch begins with a condition that does not hold.
fn is_closed(local: &Local<'_>, branch: &[Micro], registers: &[Value]) -> bool {
    matches!(branch.first(), Some(Micro::Assume(condition)) if local.eval(condition, registers) == Ok(0))
}

/// Does what has one way; whether it can be passed.
fn run_micro<B: Inside>(local: &Local<'_>, micro: &Micro, inside: &mut B) -> Result<bool, Stop> {
    match micro {
        Micro::Assume(condition) => return Ok(local.eval(condition, &inside.block().registers)? != 0),
        Micro::Assert(condition) => local.check(condition, &inside.block().registers)?,
        Micro::Assign(register, value) => {
            let registers = &mut inside.block().registers;
            let value = local.eval(value, registers)?;
            local.assign_in(registers, *register, value)?;
        }
        Micro::Load(register, place) => {
            let x = local.resolve(place, &inside.block().registers)?;
            inside.reads(x);
            let value = inside.block().contents[x.index()];
            local.assign_in(&mut inside.block().registers, *register, value)?;
        }
        Micro::Store(place, value) => {
            let (x, value) = local.store(place, value, &inside.block().registers)?;
            inside.writes(x);
            inside.block().contents[x.index()] = value;
        }
        Micro::Choose(_) | Micro::Havoc(..) => unreachable!("these have several ways"),
    }
    Ok(true)
}
