//! What an edge does to the registers of its process and to memory.

use crate::memory::Operational;
use crate::program::{Edge, EdgeId, EvalError, Expr, LocationId, Micro, Op, Place, Program, RegisterId, RmwVar, Value};
use crate::system::{Fault, State, System};
use crate::util::Idx;

/// Why an operation gives no configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stop {
    /// The program goes wrong here.
    Fault(Fault),
    /// A value beyond 64 bits.
    Overflow,
}

/// Registers and memory after an operation.
type After<M> = Result<(Vec<Value>, M), Stop>;

/// Every outcome of an edge's operation; none where it has to wait.
pub(super) fn outcomes<O: Operational>(
    system: &System<'_, O>,
    state: &State<O::Memory>,
    edge: EdgeId,
) -> Vec<After<O::Memory>> {
    let local = Local::new(system.flow.program, edge);
    let process = local.edge.process;
    let registers = &state.registers[process];
    let (model, memory) = (&system.model, &state.memory);
    let keep = |registers: Result<Vec<Value>, Stop>| registers.map(|registers| (registers, memory.clone()));
    match &local.edge.op {
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => {
            local.run(registers).into_iter().map(keep).collect()
        }
        Op::Load(register, place) => {
            let loaded = local.resolve(place, registers).and_then(|x| {
                let (value, _) = model.load(memory, process, x);
                local.assign(registers, *register, value)
            });
            vec![keep(loaded)]
        }
        Op::Store(place, value) => {
            let stored = local.store(place, value, registers);
            vec![stored.map(|(x, value)| (registers.clone(), model.store(memory, process, x, value)))]
        }
        Op::Fence(kind) => {
            model.fence(memory, process, *kind).map(|m| Ok((registers.clone(), m))).into_iter().collect()
        }
        Op::Rmw { place, .. } => match local.resolve(place, registers) {
            Ok(x) => rmw(model, memory, &local, x, registers).into_iter().collect(),
            Err(stop) => vec![Err(stop)],
        },
        Op::Locked(_) if !model.may_lock(memory, process) => Vec::new(),
        Op::Locked(body) => {
            let start = Block { registers: registers.clone(), contents: model.contents(memory).to_vec() };
            let ends = run_block(&local, body, start).into_iter();
            ends.map(|end| end.map(|end| (end.registers, with_contents(model, memory, &end.contents)))).collect()
        }
    }
}

/// The outcome of an atomic update; `None` where it has to wait.
fn rmw<O: Operational>(
    model: &O,
    memory: &O::Memory,
    local: &Local<'_>,
    x: LocationId,
    registers: &[Value],
) -> Option<After<O::Memory>> {
    if !model.may_rmw(memory, local.edge.process, x) {
        return None;
    }
    let contents = model.contents(memory);
    let updated = local.update(registers, x, contents[x.index()])?;
    Some(updated.map(|Updated { registers, new }| {
        let mut contents = contents.to_vec();
        contents[x.index()] = new.unwrap_or(contents[x.index()]);
        (registers, with_contents(model, memory, &contents))
    }))
}

fn with_contents<O: Operational>(model: &O, memory: &O::Memory, contents: &[Value]) -> O::Memory {
    let mut memory = memory.clone();
    model.contents_mut(&mut memory).copy_from_slice(contents);
    memory
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
        if !self.program.processes()[self.edge.process].registers[register].domain.contains(value) {
            return Err(Stop::Fault(Fault::RegisterRange(self.id, register, value)));
        }
        let mut registers = registers.to_vec();
        registers[register.index()] = value;
        Ok(registers)
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

/// Every way through a locked block.
pub fn run_block(local: &Local<'_>, body: &[Micro], start: Block) -> Vec<Result<Block, Stop>> {
    let Some((first, rest)) = body.split_first() else { return vec![Ok(start)] };
    let firsts = run_micro(local, first, start);
    let ends = firsts.into_iter().flat_map(|middle| match middle {
        Ok(middle) => run_block(local, rest, middle),
        Err(stop) => vec![Err(stop)],
    });
    ends.collect()
}

fn run_micro(local: &Local<'_>, micro: &Micro, mut block: Block) -> Vec<Result<Block, Stop>> {
    let Block { registers, contents } = &block;
    let with = |registers: Result<Vec<Value>, Stop>| {
        registers.map(|registers| Block { registers, contents: contents.clone() })
    };
    match micro {
        Micro::Assume(condition) => match local.eval(condition, registers) {
            Ok(0) => Vec::new(),
            Ok(_) => vec![Ok(block)],
            Err(stop) => vec![Err(stop)],
        },
        Micro::Assert(condition) => vec![local.check(condition, registers).map(|()| block.clone())],
        Micro::Assign(register, value) => {
            let value = local.eval(value, registers);
            vec![with(value.and_then(|value| local.assign(registers, *register, value)))]
        }
        Micro::Havoc(register, lo, hi) => {
            (*lo..=*hi).map(|value| with(local.assign(registers, *register, value))).collect()
        }
        Micro::Load(register, place) => {
            let location = local.resolve(place, registers);
            vec![with(location.and_then(|x| local.assign(registers, *register, contents[x.index()])))]
        }
        Micro::Store(place, value) => match local.store(place, value, registers) {
            Ok((x, value)) => {
                block.contents[x.index()] = value;
                vec![Ok(block)]
            }
            Err(stop) => vec![Err(stop)],
        },
        Micro::Choose(branches) => branches.iter().flat_map(|branch| run_block(local, branch, block.clone())).collect(),
    }
}
