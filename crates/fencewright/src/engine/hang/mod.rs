//! Hangs: a run after some point of which memory stays as it is, although not all threads have ended.
//!
//! Every thread that can step for ever does, and every buffered store reaches memory some day. So a program hangs if
//! and only if this can be reached: all buffers are empty, every thread has ended or is stuck ([`stuck`]) with memory
//! as it is, and at least one is stuck. After the last change of memory what is still buffered changes nothing, so each
//! thread only reads, or is blocked; stop it there and let the buffers drain. The other way round, from there each
//! thread goes round for ever, and what it writes is what memory holds.
//!
//! ```text
//!    P: while (wake == 0) { }            P stuck where wake = 0
//!    Q: … wake = 1; … end                Q at its end              ──▶  P@3 && Q@end && wake == 0, buffers empty
//! ```
//!
//! That is a property like that of an end, so every engine that takes the program answers it, fences are found against
//! it, and certificates prove it. Not covered: livelock with changing memory, and starvation of one thread while others
//! change memory for ever.
//!
//! | file | idea |
//! |---|---|
//! | [`soon`] | a hang that a short search finds |
//! | [`stuck`] | where a thread is stuck, and what memory must hold for that |
//! | [`told`] | what is said of a hang |
//! | [`written`] | what memory can hold where all buffers are empty |

mod soon;
mod stuck;
mod told;
mod written;

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::automaton::{Automaton, Merging, RegisterFree, StateId, Unmade};
use crate::engine::{Question, Reduced, Task, Unsupported};
use crate::program::{
    BinaryOp, Expr, PointId, ProcessId, Program, Property, PropertyKind, PropertyWords, RegisterId, Situation, StateVar,
};
use crate::source::Span;
use crate::util::{Idx, IndexVec};
use crate::watch::Monitor;

use stuck::{Cube, Stuck, all_stuck};
use written::{Written, Wrote};

pub use soon::hangs_soon;
pub use told::{Waiting, waiting};

/// The name of the question.
pub const HANG: &str = "hang";

/// Does the program hang?
#[derive(Clone, Debug, Default)]
pub struct Hang {
    /// Threads that may wait for ever at a label: the name of the thread, or of its family, and the label.
    pub may_wait: Vec<(String, String)>,
}

impl Hang {
    /// The program with the question beside its own properties: both are asked at once.
    ///
    /// # Errors
    /// It makes no sense of the program, or the monitor has had enough.
    pub fn beside(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Program, Unmade> {
        let own = task.program.properties().iter().cloned();
        Ok(task.program.with_properties(own.chain([self.property(task, monitor)?])))
    }

    /// The question as a property.
    fn property(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Property, Unmade> {
        // Where an assertion fails, nobody waits.
        let program = task.program.with_properties([]);
        let merging = Merging { dead_registers: true, local_steps: false, bisimilar: false };
        let plain = Task::new(&program, task.model, task.options);
        let automaton = Automaton::new(&plain, merging);
        let free = RegisterFree::new(&plain, &automaton, monitor)?;
        // Of a memory that is more than its buffers nothing is known.
        let written = task.buffering().map_or_else(|_| Written::unknown(&free), |_| Written::new(&free));
        let maker = Maker { hang: self, program: &program, free: &free, written };
        let stuck = all_stuck(&program, &free, &|process, point| maker.may_wait(process, point), monitor)?;
        let situations = maker.situations(&stuck)?;
        let words = PropertyWords { name: Some(self.name().to_owned()), ..PropertyWords::default() };
        let text = "some thread waits for ever".to_owned();
        let span = task.program.no_hang().map_or(Span::default(), |it| it.span);
        Ok(Property { kind: PropertyKind::Hang, situations, text, words, span })
    }
}

/// The program without its own properties. A run in which an assertion fails is another question's.
fn alone(program: &Program) -> Program {
    program.with_properties([]).with_assumed(&|_| true)
}

/// More combinations of places than this are too many.
const MAX_SITUATIONS: usize = 50_000;

impl Question for Hang {
    fn name(&self) -> &'static str {
        HANG
    }

    fn about(&self) -> &'static str {
        "can memory stay as it is for ever although not all threads have ended?"
    }

    fn reduce(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Reduced, Unmade> {
        let property = self.property(task, monitor)?;
        Ok(Reduced::to_properties(task, alone(task.program).with_properties([property])))
    }
}

/// A thread at a point, with what registers and memory hold.
#[derive(Clone, Debug)]
struct Place {
    point: PointId,
    registers: Vec<(RegisterId, i64)>,
    memory: Cube,
    /// Whether it may be there for ever.
    is_fine: bool,
    /// What it may have stored last.
    wrote: BTreeSet<Wrote>,
}

struct Maker<'a> {
    hang: &'a Hang,
    program: &'a Program,
    free: &'a RegisterFree,
    written: Written<'a>,
}

impl Maker<'_> {
    /// Every combination of places in which all threads are, some of which should not be.
    fn situations(&self, stuck: &IndexVec<ProcessId, Vec<Stuck>>) -> Result<Vec<Situation>, Unsupported> {
        let mut chosen: Vec<(Vec<(ProcessId, Place)>, Cube)> = vec![(Vec::new(), Cube::new())];
        for process in self.program.processes().indices() {
            let places = self.places(process, &stuck[process]);
            let mut next = Vec::new();
            for (before, memory) in &chosen {
                for place in &places {
                    if let Some(both) = met(memory, &place.memory) {
                        next.push(([&before[..], &[(process, place.clone())]].concat(), both));
                    }
                }
                if next.len() > MAX_SITUATIONS {
                    let reason = "threads can be stuck in too many combinations of places".to_owned();
                    return Err(Unsupported { reason, help: "ask about fewer threads".to_owned() });
                }
            }
            chosen = next;
        }
        chosen.retain(|(places, _)| places.iter().any(|(_, place)| !place.is_fine));
        let is_possible = |(places, memory): &(Vec<(ProcessId, Place)>, Cube)| {
            let wrote: Vec<&BTreeSet<Wrote>> = places.iter().map(|(_, place)| &place.wrote).collect();
            self.written.is_possible(memory, &wrote)
        };
        chosen.retain(is_possible);
        Ok(chosen.iter().map(|(places, memory)| self.situation(places, memory)).collect())
    }

    /// Where a thread may be for ever: at its ends, and where it is stuck.
    fn places(&self, process: ProcessId, stuck: &[Stuck]) -> Vec<Place> {
        let states = &self.free.processes[process].states;
        let mut ends: BTreeMap<PointId, Vec<StateId>> = BTreeMap::new();
        for (state, point) in states.iter().enumerate().filter_map(|(state, it)| Some((state, it.point?))) {
            if self.program.points()[point].is_end {
                ends.entry(point).or_default().push(state as StateId);
            }
        }
        let end = |(point, states): (PointId, Vec<StateId>)| {
            let wrote = self.written.of(process, &states);
            Place { point, registers: Vec::new(), memory: Cube::new(), is_fine: true, wrote }
        };
        let mut out: Vec<Place> = ends.into_iter().map(end).collect();
        let mut alike: BTreeMap<(PointId, Cube, bool), Vec<StateId>> = BTreeMap::new();
        for it in stuck {
            let points = it.round.iter().filter_map(|&state| states[state as usize].point);
            let is_fine = points.into_iter().any(|point| self.may_wait(process, point));
            let point =
                states[it.state as usize].point.expect("without fences laid over it, every state is at a point");
            alike.entry((point, it.memory.clone(), is_fine)).or_default().push(it.state);
        }
        for ((point, memory, is_fine), here) in alike {
            for registers in self.told_apart(process, point, &here) {
                let holds = |&state: &StateId, (register, value): &(RegisterId, i64)| {
                    states[state as usize].registers[register.index()] == *value
                };
                let meant = here.iter().copied().filter(|state| registers.iter().all(|it| holds(state, it)));
                let meant: Vec<StateId> = meant.collect();
                let wrote = self.written.of(process, &meant);
                out.push(Place { point, registers, memory: memory.clone(), is_fine, wrote });
            }
        }
        out
    }

    fn may_wait(&self, process: ProcessId, point: PointId) -> bool {
        let name = &self.program.processes()[process].name;
        let family = name.split_once('(').map_or(name.as_str(), |it| it.0);
        let is_meant = |(thread, label): &(String, String)| {
            (thread == name || thread == family) && self.program.points()[point].labels.contains(label)
        };
        self.hang.may_wait.iter().any(is_meant)
    }

    /// What registers hold in some of the states at a point: as few of them as tell these states from the others there.
    fn told_apart(&self, process: ProcessId, point: PointId, states: &[StateId]) -> BTreeSet<Vec<(RegisterId, i64)>> {
        let infos = &self.free.processes[process].states;
        let others: Vec<usize> = (0..infos.len())
            .filter(|&it| infos[it].point == Some(point) && !states.contains(&(it as StateId)))
            .collect();
        let mut needed: Vec<RegisterId> = self.program.processes()[process].registers.indices().collect();
        let values = |state: usize, of: &[RegisterId]| -> Vec<(RegisterId, i64)> {
            of.iter().map(|&register| (register, infos[state].registers[register.index()])).collect()
        };
        let all = |of: &[RegisterId]| -> BTreeSet<_> { states.iter().map(|&it| values(it as usize, of)).collect() };
        for register in needed.clone() {
            let fewer: Vec<RegisterId> = needed.iter().copied().filter(|&it| it != register).collect();
            let here = all(&fewer);
            if others.iter().all(|&other| !here.contains(&values(other, &fewer))) {
                needed = fewer;
            }
        }
        all(&needed)
    }

    fn situation(&self, places: &[(ProcessId, Place)], memory: &Cube) -> Situation {
        let at = places.iter().map(|(process, place)| (*process, vec![place.point])).collect();
        let of_place = |(process, place): &(ProcessId, Place)| {
            let process = *process;
            let is = move |&(register, value): &(RegisterId, i64)| equals(StateVar::Register(process, register), value);
            place.registers.iter().map(is).collect::<Vec<_>>()
        };
        let registers = places.iter().flat_map(of_place);
        let cells = memory.iter().map(|(&x, held)| {
            let values = held.iter().map(|&datum| self.free.values[x][usize::from(datum)]);
            let any = values.map(|value| equals(StateVar::Memory(x), value));
            any.reduce(|a, b| Expr::binary(BinaryOp::Or, a, b)).unwrap_or(Expr::Const(0))
        });
        let all = registers.chain(cells).reduce(|a, b| Expr::binary(BinaryOp::And, a, b));
        Situation { at, condition: all.unwrap_or(Expr::TRUE) }
    }
}

fn equals(variable: StateVar, value: i64) -> Expr<StateVar> {
    Expr::binary(BinaryOp::Eq, Expr::Var(variable), Expr::Const(value))
}

/// What both say of memory, unless they contradict each other.
fn met(a: &Cube, b: &Cube) -> Option<Cube> {
    let mut both = a.clone();
    for (x, values) in b {
        let held = both.entry(*x).or_insert_with(|| values.clone());
        *held = held.intersection(values).copied().collect();
        if held.is_empty() {
            return None;
        }
    }
    Some(both)
}
