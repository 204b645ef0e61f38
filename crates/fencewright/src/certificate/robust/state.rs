//! What sequential consistency does not reach, as a property.
//!
//! A *vector* is where all threads are, with their registers. Under sequential consistency all are visited. A step that
//! reads nothing of memory is possible there wherever its thread is, so a run of the model that comes to a vector which
//! is new comes to the first such vector by a read: from one that is known, with one thread moved by a read of some
//! value. All of these are found, and forbidden. Each is made wider before, by leaving out threads and registers, as
//! long as nothing known is in it; that makes fewer of them, and what is forbidden besides is new as well. It would do
//! no harm if it were not: then what is forbidden would be reached, and nothing could be proved.
//!
//! Registers that the text does not name matter while they are still to be read.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::certificate::held::held;
use crate::certificate::live::Live;
use crate::certificate::locals::{Letter, LocalState, Offers, Values};
use crate::certificate::verify::{Failure, Steps};
use crate::memory::Buffering;
use crate::program::{
    BinaryOp, Expr, LocationId, Placement, PointId, ProcessId, Program, Property, PropertyKind, PropertyWords,
    RegisterId, Situation, StateVar, Value,
};
use crate::source::Span;
use crate::system::{Control, Flow, starts};
use crate::util::{Idx, IndexVec};

use super::alone;

/// More vectors that are new than this are not listed.
const MAX_SITUATIONS: usize = 20_000;

/// The program with nothing to violate but that it must come to nothing new.
///
/// # Errors
/// There is too much to look at.
pub(in crate::certificate) fn asked(program: &Program, steps: &mut Steps<'_>) -> Result<Program, Failure> {
    let plain = alone(program);
    let values = held(&plain, steps)?;
    let mut visit = Visit::new(&plain, &values, steps)?;
    visit.run(steps)?;
    let situations = Beyond::new(&visit).all(steps)?;
    let (kind, text, words) = (PropertyKind::Robust, String::new(), PropertyWords::default());
    Ok(plain.with_properties([Property { kind, situations, text, words, span: Span::default() }]))
}

/// Where all threads are, each by the number of a local state.
type Vector = Vec<u32>;

/// The local states of a thread, and what it can do in each.
struct Thread {
    locals: Vec<LocalState>,
    numbers: HashMap<LocalState, u32>,
    steps: Vec<Vec<(Letter, u32)>>,
}

/// All vectors of sequential consistency.
struct Visit<'a> {
    program: &'a Program,
    threads: IndexVec<ProcessId, Thread>,
    live: Live,
    vectors: Vec<Vector>,
    known: HashSet<Vector>,
}

impl<'a> Visit<'a> {
    fn new(program: &'a Program, values: &Values, steps: &mut Steps<'_>) -> Result<Self, Failure> {
        let live = Live::new(&seeing_registers(program));
        let flow = Flow { program, placement: &Placement::NONE };
        // What a thread can do is the same whether its stores wait or not.
        let offers = Offers { flow, buffering: Buffering::Fifo, values, foreign: &BTreeSet::new() };
        let mut threads = IndexVec::new();
        for process in program.processes().indices() {
            threads.push(Thread::new(&offers, process, &live, steps)?);
        }
        Ok(Self { program, threads, live, vectors: Vec::new(), known: HashSet::new() })
    }

    fn run(&mut self, steps: &mut Steps<'_>) -> Result<(), Failure> {
        let Some(starts) = starts(self.program) else { return Failure::refused("a variable starts with any integer") };
        let mut seen: HashSet<(Vector, Vec<Value>)> = HashSet::new();
        let mut todo = Vec::new();
        for start in starts {
            let locals = start.registers.iter_enumerated().map(|(process, registers)| {
                let entry = Control::At(self.program.processes()[process].entry);
                let local = self.live.kept(process, LocalState::Here(entry, registers.clone()));
                self.threads[process].numbers[&local]
            });
            let state = (locals.collect(), start.memory.as_slice().to_vec());
            if seen.insert(state.clone()) {
                todo.push(state);
            }
        }
        while let Some((vector, memory)) = todo.pop() {
            let width = vector.len() * 12 + memory.len() * 16 + 128;
            steps.step((seen.len() * width) as u64)?;
            if self.known.insert(vector.clone()) {
                self.vectors.push(vector.clone());
            }
            for (process, thread) in self.threads.iter_enumerated() {
                for (letter, to) in &thread.steps[vector[process.index()] as usize] {
                    let Some(after) = after(letter, &memory) else { continue };
                    if let LocalState::Broken(_) = thread.locals[*to as usize] {
                        return Failure::refused("a step goes wrong");
                    }
                    let next = (moved(&vector, process, *to), after);
                    if seen.insert(next.clone()) {
                        todo.push(next);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Thread {
    fn new(offers: &Offers<'_>, process: ProcessId, live: &Live, counter: &mut Steps<'_>) -> Result<Self, Failure> {
        let mut thread = Self { locals: Vec::new(), numbers: HashMap::new(), steps: Vec::new() };
        for start in offers.starts(process)? {
            counter.step(thread.locals.len() as u64 * 128)?;
            thread.number(live.kept(process, start));
        }
        let mut at = 0;
        while at < thread.locals.len() {
            counter.step(thread.locals.len() as u64 * 128)?;
            let mut steps = Vec::new();
            for (letter, to) in offers.steps(process, &thread.locals[at].clone())? {
                steps.push((letter, thread.number(live.kept(process, to))));
            }
            thread.steps.push(steps);
            at += 1;
        }
        Ok(thread)
    }

    fn number(&mut self, state: LocalState) -> u32 {
        *self.numbers.entry(state.clone()).or_insert_with(|| {
            self.locals.push(state);
            (self.locals.len() - 1) as u32
        })
    }

    fn here(&self, local: u32) -> Option<(PointId, &[Value])> {
        match &self.locals[local as usize] {
            LocalState::Here(Control::At(point), registers) => Some((*point, registers)),
            LocalState::Here(Control::Ready(_) | Control::Done(_), _) | LocalState::Broken(_) => None,
        }
    }
}

/// A thread at a point, with what some registers hold.
#[derive(Clone)]
struct Place {
    point: PointId,
    registers: Vec<(RegisterId, Value)>,
    /// All local states that are meant.
    locals: BTreeSet<u32>,
}

/// Where some threads are.
type Cube = IndexVec<ProcessId, Option<Place>>;

/// What is one read beyond what is known.
struct Beyond<'a> {
    visit: &'a Visit<'a>,
    /// The local states at each point.
    at: BTreeMap<PointId, Vec<u32>>,
    /// The numbers of the vectors that have a thread in a local state.
    with: IndexVec<ProcessId, Vec<Vec<u32>>>,
    cubes: Vec<Cube>,
}

impl<'a> Beyond<'a> {
    fn new(visit: &'a Visit<'a>) -> Self {
        let mut at: BTreeMap<PointId, Vec<u32>> = BTreeMap::new();
        for thread in &visit.threads {
            for local in 0..thread.locals.len() as u32 {
                if let Some((point, _)) = thread.here(local) {
                    at.entry(point).or_default().push(local);
                }
            }
        }
        let mut with: IndexVec<ProcessId, Vec<Vec<u32>>> =
            visit.threads.iter().map(|it| vec![Vec::new(); it.locals.len()]).collect();
        for (number, vector) in visit.vectors.iter().enumerate() {
            with.iter_mut().zip(vector).for_each(|(with, &local)| with[local as usize].push(number as u32));
        }
        Self { visit, at, with, cubes: Vec::new() }
    }

    fn all(mut self, steps: &mut Steps<'_>) -> Result<Vec<Situation>, Failure> {
        for vector in &self.visit.vectors {
            for (process, thread) in self.visit.threads.iter_enumerated() {
                for (letter, to) in &thread.steps[vector[process.index()] as usize] {
                    // What goes wrong is forbidden anyway.
                    if !reads(letter) || thread.here(*to).is_none() {
                        continue;
                    }
                    steps.step((self.cubes.len() * 512 + self.visit.vectors.len() * vector.len() * 12) as u64)?;
                    let next = moved(vector, process, *to);
                    if !self.visit.known.contains(&next) && !self.cubes.iter().any(|cube| is_in(&next, cube)) {
                        let cube = self.wide(&next, process);
                        self.cubes.push(cube);
                    }
                }
            }
            if self.cubes.len() > MAX_SITUATIONS {
                return Failure::refused("too much is new");
            }
        }
        Ok(self.cubes.iter().map(situation).collect())
    }

    /// A vector that is new, as wide as it can be: the thread that has moved is left out last.
    fn wide(&self, vector: &Vector, mover: ProcessId) -> Cube {
        let place = |process: ProcessId| {
            let (point, registers) = self.visit.threads[process].here(vector[process.index()])?;
            // What is the same in all local states there tells nothing; so it is with registers that do not matter.
            let held = |local: u32| self.visit.threads[process].here(local).map_or(&[][..], |it| it.1);
            let varies = |i: &usize| self.at[&point].iter().any(|&local| held(local)[*i] != registers[*i]);
            let telling = (0..registers.len()).filter(varies).map(|i| (RegisterId::from_usize(i), registers[i]));
            Some(self.place(process, point, telling.collect()))
        };
        let processes = || self.visit.threads.indices();
        let mut cube: Cube = processes().map(place).collect();
        for process in processes().filter(|&it| it != mover).chain([mover]) {
            self.replace(&mut cube, process, None);
        }
        for process in processes() {
            let Some(full) = cube[process].clone() else { continue };
            if self.replace(&mut cube, process, Some(self.place(process, full.point, Vec::new()))) {
                continue;
            }
            for (register, _) in full.registers.iter().rev() {
                let Some(place) = &cube[process] else { continue };
                let fewer = place.registers.iter().copied().filter(|it| it.0 != *register).collect();
                self.replace(&mut cube, process, Some(self.place(process, full.point, fewer)));
            }
        }
        cube
    }

    /// Puts another place for a thread, if all is new then; tells whether it is.
    fn replace(&self, cube: &mut Cube, process: ProcessId, wider: Option<Place>) -> bool {
        let before = std::mem::replace(&mut cube[process], wider);
        let is_new = self.is_new(cube);
        if !is_new {
            cube[process] = before;
        }
        is_new
    }

    fn is_new(&self, cube: &Cube) -> bool {
        let n_with = |(process, place): &(ProcessId, &Place)| -> usize {
            place.locals.iter().map(|&local| self.with[*process][local as usize].len()).sum()
        };
        let places = cube.iter_enumerated().filter_map(|(process, it)| Some((process, it.as_ref()?)));
        let Some((rarest, place)) = places.min_by_key(n_with) else { return false };
        let mut numbers = place.locals.iter().flat_map(|&local| &self.with[rarest][local as usize]);
        !numbers.any(|&number| is_in(&self.visit.vectors[number as usize], cube))
    }

    fn place(&self, process: ProcessId, point: PointId, registers: Vec<(RegisterId, Value)>) -> Place {
        let thread = &self.visit.threads[process];
        let fits = |local: &u32| {
            let held = thread.here(*local).map_or(&[][..], |it| it.1);
            registers.iter().all(|(register, value)| held.get(register.index()) == Some(value))
        };
        let locals = self.at[&point].iter().copied().filter(fits).collect();
        Place { point, registers, locals }
    }
}

/// The program with a property that looks at every register that the text names.
fn seeing_registers(program: &Program) -> Program {
    let mut condition = Expr::Const(0);
    for (process, it) in program.processes().iter_enumerated() {
        for (register, _) in it.registers.iter_enumerated().filter(|it| !it.1.name.starts_with('$')) {
            condition = Expr::binary(BinaryOp::And, condition, Expr::Var(StateVar::Register(process, register)));
        }
    }
    let situations = vec![Situation { at: Vec::new(), condition }];
    let (kind, text, words) = (PropertyKind::Control, String::new(), PropertyWords::default());
    program.with_properties([Property { kind, situations, text, words, span: Span::default() }])
}

fn moved(vector: &Vector, process: ProcessId, to: u32) -> Vector {
    let mut next = vector.clone();
    next[process.index()] = to;
    next
}

fn is_in(vector: &Vector, cube: &Cube) -> bool {
    let mut places = cube.iter().zip(vector);
    places.all(|(place, local)| place.as_ref().is_none_or(|it| it.locals.contains(local)))
}

/// Memory behind a step; `None` where it holds something else than the step needs.
fn after(letter: &Letter, memory: &[Value]) -> Option<Vec<Value>> {
    let holds = |(x, value): &(LocationId, Value)| memory[x.index()] == *value;
    let is_possible = match letter {
        Letter::Nop | Letter::Fence(_) | Letter::Write(..) => true,
        Letter::Read(x, value) => holds(&(*x, *value)),
        Letter::Atomic(atomic) => atomic.guards.iter().all(holds),
    };
    is_possible.then(|| {
        let mut after = memory.to_vec();
        letter.writes().iter().for_each(|(x, value)| after[x.index()] = *value);
        after
    })
}

fn reads(letter: &Letter) -> bool {
    match letter {
        Letter::Read(..) | Letter::Atomic(_) => true,
        Letter::Nop | Letter::Fence(_) | Letter::Write(..) => false,
    }
}

fn situation(cube: &Cube) -> Situation {
    let places = || cube.iter_enumerated().filter_map(|(process, place)| Some((process, place.as_ref()?)));
    let at = places().map(|(process, place)| (process, vec![place.point])).collect();
    let equal = places().flat_map(|(process, place)| {
        let register = move |it: &(RegisterId, Value)| {
            Expr::binary(BinaryOp::Eq, Expr::Var(StateVar::Register(process, it.0)), Expr::Const(it.1))
        };
        place.registers.iter().map(register)
    });
    let condition = equal.reduce(|a, b| Expr::binary(BinaryOp::And, a, b)).unwrap_or(Expr::TRUE);
    Situation { at, condition }
}
