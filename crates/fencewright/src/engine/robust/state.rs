//! State robustness: control vectors that sequential consistency does not reach, as a property.
//!
//! ```text
//!   S: what sequential consistency reaches          a run of the model:  ● ● ● ●──read──▶○   the first that is new
//!                                                                        ╰── in S ──╯
//! ```
//!
//! A step that reads nothing is possible under sequential consistency wherever its thread is there, so a run leaves S
//! by a read. Its target is one that S does not have, with one thread moved by a read of whatever value the location
//! may hold: finitely many. Each of them is made as wide as possible without meeting S: threads and registers that are
//! not needed to tell it from S are left open. So the situations are few, every one of them is new, and a run that gets
//! anywhere new gets to one of them.

use std::collections::BTreeMap;

use crate::engine::automaton::{Letter, RegisterFree, StateId, Unmade};
use crate::engine::{Task, Unsupported};
use crate::program::{BinaryOp, Expr, PointId, ProcessId, Program, RegisterId, Situation, StateVar, Value};
use crate::util::{BitSet, Idx, IndexVec};
use crate::watch::{Monitor, Progress};

use super::known::{Known, Vector};

/// More situations than this are too many.
const MAX_SITUATIONS: usize = 20_000;

/// The monitor is asked after so many vectors.
const POLL_EVERY: usize = 64;

/// A thread at a point, with what some registers hold.
#[derive(Clone, Debug)]
struct Place {
    point: PointId,
    registers: Vec<(RegisterId, Value)>,
    /// The local states that are meant.
    states: BitSet,
    /// Where the thread lands before it gets there by itself.
    from: BitSet,
}

/// Where some threads are.
type Cube = IndexVec<ProcessId, Option<Place>>;

/// Everything new that a run can get to first.
pub(super) fn situations(
    task: &Task<'_>,
    free: &RegisterFree,
    monitor: &dyn Monitor,
) -> Result<Vec<Situation>, Unmade> {
    let known = Known::new(free, monitor)?;
    let mut maker = Maker::new(task.program, free, &known);
    for (i, vector) in known.landed.iter().enumerate() {
        if i.is_multiple_of(POLL_EVERY) {
            let bytes = (maker.cubes.len() * 512 + known.landed.len() * vector.len() * 12) as u64;
            let progress = Progress { explored: i as u64, bytes, ..Progress::default() };
            monitor.poll(&progress).map_or(Ok(()), |stop| Err(Unmade::Stopped(stop)))?;
        }
        maker.beyond(vector)?;
    }
    Ok(maker.cubes.iter().map(situation).collect())
}

struct Maker<'a> {
    program: &'a Program,
    free: &'a RegisterFree,
    known: &'a Known,
    /// The local states at each point.
    here: BTreeMap<PointId, Vec<StateId>>,
    /// The vectors in which a process has landed in a state, by number.
    with: IndexVec<ProcessId, Vec<Vec<u32>>>,
    cubes: Vec<Cube>,
}

impl<'a> Maker<'a> {
    fn new(program: &'a Program, free: &'a RegisterFree, known: &'a Known) -> Self {
        let mut here: BTreeMap<PointId, Vec<StateId>> = BTreeMap::new();
        for states in free.processes.iter().map(|it| &it.states) {
            for (state, point) in states.iter().enumerate().filter_map(|(state, info)| Some((state, info.point?))) {
                here.entry(point).or_default().push(state as StateId);
            }
        }
        let empty = free.processes.iter().map(|it| vec![Vec::new(); it.states.len()]);
        let mut with: IndexVec<ProcessId, Vec<Vec<u32>>> = empty.collect();
        for (number, vector) in known.landed.iter().enumerate() {
            with.iter_mut().zip(vector).for_each(|(with, &state)| with[state as usize].push(number as u32));
        }
        Self { program, free, known, here, with, cubes: Vec::new() }
    }

    /// Adds what is new and one read away from a vector.
    fn beyond(&mut self, vector: &Vector) -> Result<(), Unsupported> {
        for (process, automaton) in self.free.processes.iter_enumerated() {
            for &edge in &self.known.alone[process].accesses[vector[process.index()] as usize] {
                let edge = &automaton.edges[edge as usize];
                let reads = match edge.letter {
                    Letter::Read(..) | Letter::Atomic(_) => true,
                    Letter::Nop | Letter::Write(..) | Letter::Fence(_) => false,
                };
                // What goes wrong is told anyway.
                if !reads || automaton.states[edge.to as usize].fault.is_some() {
                    continue;
                }
                let mut next = vector.clone();
                next[process.index()] = edge.to;
                if !self.is_covered(&next) && !self.known.contains(&next) {
                    self.add(&next, process)?;
                }
            }
        }
        Ok(())
    }

    fn is_covered(&self, vector: &Vector) -> bool {
        let is_there = |(process, place): (ProcessId, &Option<Place>)| {
            place.as_ref().is_none_or(|it| it.states.contains(vector[process.index()] as usize))
        };
        self.cubes.iter().any(|cube| cube.iter_enumerated().all(is_there))
    }

    /// Adds a vector that is new, made as wide as possible. The process that made it new is not left out.
    fn add(&mut self, vector: &Vector, mover: ProcessId) -> Result<(), Unsupported> {
        if self.cubes.len() >= MAX_SITUATIONS {
            let reason = format!("more than {MAX_SITUATIONS} situations would be new");
            return Err(Unsupported {
                reason,
                help: "ask about fewer threads, or use `--ask robust=trace`".to_owned(),
            });
        }
        let places = self.free.processes.indices().map(|it| Some(self.place(it, vector[it.index()])));
        let mut cube: Cube = places.collect();
        for process in self.free.processes.indices().filter(|&it| it != mover) {
            self.try_wider(&mut cube, process, |_| None);
        }
        for process in self.free.processes.indices() {
            self.drop_registers(&mut cube, process);
        }
        self.cubes.push(cube);
        Ok(())
    }

    fn drop_registers(&self, cube: &mut Cube, process: ProcessId) {
        let Some(place) = &cube[process] else { return };
        let registers = place.registers.clone();
        if registers.is_empty() || self.try_wider(cube, process, |it| Some(self.at(process, it.point, Vec::new()))) {
            return;
        }
        for (register, _) in registers.iter().rev() {
            self.try_wider(cube, process, |it| {
                let fewer = it.registers.iter().copied().filter(|kept| kept.0 != *register);
                Some(self.at(process, it.point, fewer.collect()))
            });
        }
    }

    /// Leaves more open about a process, if what is meant stays new; tells whether it does.
    fn try_wider(&self, cube: &mut Cube, process: ProcessId, wider: impl Fn(&Place) -> Option<Place>) -> bool {
        let Some(place) = cube[process].take() else { return false };
        cube[process] = wider(&place);
        let is_new = self.is_new(cube);
        if !is_new {
            cube[process] = Some(place);
        }
        is_new
    }

    /// Whether sequential consistency reaches nothing of it.
    fn is_new(&self, cube: &Cube) -> bool {
        let places: Vec<(ProcessId, &BitSet)> =
            cube.iter_enumerated().filter_map(|(process, it)| Some((process, &it.as_ref()?.from))).collect();
        let n_with = |&(process, from): &(ProcessId, &BitSet)| -> usize {
            from.iter().map(|state| self.with[process][state].len()).sum()
        };
        let Some(&(rarest, from)) = places.iter().min_by_key(|&it| n_with(it)) else { return false };
        let mut candidates = from.iter().flat_map(|state| &self.with[rarest][state]);
        let is_there =
            |vector: &Vector| places.iter().all(|(process, from)| from.contains(vector[process.index()] as usize));
        !candidates.any(|&number| is_there(&self.known.landed[number as usize]))
    }

    /// A thread in a local state, with the registers that tell local states at the same point apart.
    fn place(&self, process: ProcessId, state: StateId) -> Place {
        let states = &self.free.processes[process].states;
        let info = &states[state as usize];
        let point = info.point.expect("without fences laid over it, every state is at a point");
        let varies = |register: &RegisterId| {
            let value = info.registers[register.index()];
            self.here[&point].iter().any(|&it| states[it as usize].registers[register.index()] != value)
        };
        let registers = self.program.processes()[process].registers.indices().filter(varies);
        let registers = registers.map(|it| (it, info.registers[it.index()])).collect();
        self.at(process, point, registers)
    }

    fn at(&self, process: ProcessId, point: PointId, registers: Vec<(RegisterId, Value)>) -> Place {
        let infos = &self.free.processes[process].states;
        let fits = |state: &usize| {
            let mut wanted = registers.iter();
            wanted.all(|(register, value)| infos[*state].registers.get(register.index()) == Some(value))
        };
        let states: BitSet = self.here[&point].iter().map(|&state| state as usize).filter(fits).collect();
        let from = self.known.from(process, &states);
        Place { point, registers, states, from }
    }
}

fn situation(cube: &Cube) -> Situation {
    let places = || cube.iter_enumerated().filter_map(|(process, place)| Some((process, place.as_ref()?)));
    let at = places().map(|(process, place)| (process, vec![place.point])).collect();
    let terms = places().flat_map(|(process, place)| {
        let equals = move |&(register, value): &(RegisterId, Value)| {
            let variable = Expr::Var(StateVar::Register(process, register));
            Expr::binary(BinaryOp::Eq, variable, Expr::Const(value))
        };
        place.registers.iter().map(equals)
    });
    let condition = terms.reduce(|a, b| Expr::binary(BinaryOp::And, a, b)).unwrap_or(Expr::TRUE);
    Situation { at, condition }
}
