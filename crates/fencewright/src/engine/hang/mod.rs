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
//! A thread may also wait for ever while others go on, as servers do that never end: a *dead wait*. That is so where
//! none of those can come to a step that writes something else to what is waited for. Asking for that
//! ([`Others::GoOn`]) lets each thread that is not stuck be anywhere from where it cannot, buffers empty as before:
//! what is still buffered is let out, and leaves as it is what is waited for.
//!
//! | file | idea |
//! |---|---|
//! | [`others`] | where a thread goes on without writing what is waited for |
//! | [`soon`] | a hang that a short search finds |
//! | [`stuck`] | where a thread is stuck, and what memory must hold for that |
//! | [`told`] | what is said of a hang |
//! | [`written`] | what memory can hold where all buffers are empty |

mod others;
mod soon;
mod stuck;
mod told;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use crate::engine::automaton::{Automaton, Datum, Merging, RegisterFree, StateId, Unmade};
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
pub use told::{Waiting, ended, waiting};

/// The name of the question.
pub const HANG: &str = "hang";

/// The name of the question where others may go on.
pub const DEAD_WAIT: &str = "dead-wait";

/// Does the program hang?
#[derive(Clone, Debug, Default)]
pub struct Hang {
    /// Threads that may wait for ever at a label: the name of the thread, or of its family, and the label.
    pub may_wait: Vec<(String, String)>,
    /// What those do that do not wait.
    pub others: Others,
}

/// What threads do that do not wait for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// They have ended.
    #[default]
    End,
    /// They have ended, or they go on, but never write what is waited for.
    GoOn,
}

impl Hang {
    /// Where nobody may go on.
    pub fn new(may_wait: Vec<(String, String)>) -> Self {
        Self { may_wait, others: Others::End }
    }

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
        match self.others {
            Others::End => HANG,
            Others::GoOn => DEAD_WAIT,
        }
    }

    fn about(&self) -> &'static str {
        match self.others {
            Others::End => "can memory stay as it is for ever although not all threads have ended?",
            Others::GoOn => "can a thread wait for ever for what no other thread will ever write, though others go on?",
        }
    }

    fn reduce(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Reduced, Unmade> {
        task.is_closed().map_err(Unmade::Unsupported)?;
        let property = self.property(task, monitor)?;
        Ok(Reduced::to_properties(task, alone(task.program).with_properties([property])))
    }
}

/// A thread at one of some points, with what registers and memory hold.
#[derive(Clone, Debug)]
struct Place {
    points: Vec<PointId>,
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
        let mut chosen: Vec<(Vec<Option<Place>>, Cube)> = vec![(Vec::new(), Cube::new())];
        for (process, stuck) in stuck.iter_enumerated() {
            let places = self.choices(process, stuck)?;
            let mut next = Vec::new();
            for (before, memory) in &chosen {
                for place in &places {
                    let both = place.as_ref().map_or_else(|| Some(memory.clone()), |it| met(memory, &it.memory));
                    next.extend(both.map(|both| ([&before[..], slice::from_ref(place)].concat(), both)));
                }
                few_enough(next.len())?;
            }
            chosen = next;
        }
        chosen.retain(|(places, _)| places.iter().flatten().any(|place| !place.is_fine));
        let mut situations = Vec::new();
        for (places, memory) in chosen {
            for places in self.with_others(&places, &memory)? {
                let wrote: Vec<&BTreeSet<Wrote>> = places.iter().map(|place| &place.wrote).collect();
                if self.written.is_possible(&memory, &wrote) {
                    situations.push(self.situation(&places, &memory));
                }
            }
            few_enough(situations.len())?;
        }
        Ok(situations)
    }

    /// Where a thread may be for ever; `None` stands for going on.
    fn choices(&self, process: ProcessId, stuck: &[Stuck]) -> Result<Vec<Option<Place>>, Unsupported> {
        let waits = self.stuck_places(process, stuck);
        Ok(match self.hang.others {
            Others::End => self.end_places(process).into_iter().chain(waits).map(Some).collect(),
            // Who has ended writes nothing; what is waited for is what it is, not one of several.
            Others::GoOn => {
                let mut all = vec![None];
                for it in waits {
                    let split = singles(&it.memory)?.into_iter().map(|memory| Some(Place { memory, ..it.clone() }));
                    all.extend(split);
                }
                all
            }
        })
    }

    /// Every combination in which those that go on are somewhere from where they leave this memory as it is.
    fn with_others(&self, places: &[Option<Place>], memory: &Cube) -> Result<Vec<Vec<Place>>, Unsupported> {
        let mut all: Vec<Vec<Place>> = vec![Vec::new()];
        for (process, place) in self.program.processes().indices().zip(places) {
            let here = place.clone().map_or_else(|| self.going_on(process, memory), |it| vec![it]);
            all = all
                .iter()
                .flat_map(|before| here.iter().map(|it| [&before[..], slice::from_ref(it)].concat()))
                .collect();
            few_enough(all.len())?;
        }
        Ok(all)
    }

    /// Where a thread is that leaves this memory as it is, whatever it does.
    fn going_on(&self, process: ProcessId, memory: &Cube) -> Vec<Place> {
        let automaton = &self.free.processes[process];
        let mut here: BTreeMap<PointId, Vec<StateId>> = BTreeMap::new();
        for state in others::leaving(automaton, memory) {
            if let Some(point) = automaton.states[state as usize].point {
                here.entry(point).or_default().push(state);
            }
        }
        let (mut anyhow, mut out) = ((Vec::new(), Vec::new()), Vec::new());
        for (point, states) in here {
            for registers in self.told_apart(process, point, &states) {
                let meant = self.holding(process, &states, &registers);
                match registers.is_empty() {
                    true => {
                        anyhow.0.push(point);
                        anyhow.1.extend(meant);
                    }
                    false => out.push(self.place(process, (vec![point], registers), (Cube::new(), true), &meant)),
                }
            }
        }
        if !anyhow.0.is_empty() {
            out.push(self.place(process, (anyhow.0, Vec::new()), (Cube::new(), true), &anyhow.1));
        }
        out
    }

    fn place(
        &self,
        process: ProcessId,
        (points, registers): (Vec<PointId>, Vec<(RegisterId, i64)>),
        (memory, is_fine): (Cube, bool),
        states: &[StateId],
    ) -> Place {
        Place { points, registers, memory, is_fine, wrote: self.written.of(process, states) }
    }

    /// Those of some states in which registers hold this.
    fn holding(&self, process: ProcessId, states: &[StateId], registers: &[(RegisterId, i64)]) -> Vec<StateId> {
        let infos = &self.free.processes[process].states;
        let holds = |state: StateId, (register, value): &(RegisterId, i64)| {
            infos[state as usize].registers[register.index()] == *value
        };
        states.iter().copied().filter(|&state| registers.iter().all(|it| holds(state, it))).collect()
    }

    /// Where a thread ends.
    fn end_places(&self, process: ProcessId) -> Vec<Place> {
        let states = &self.free.processes[process].states;
        let mut ends: BTreeMap<PointId, Vec<StateId>> = BTreeMap::new();
        for (state, point) in states.iter().enumerate().filter_map(|(state, it)| Some((state, it.point?))) {
            if self.program.points()[point].is_end {
                ends.entry(point).or_default().push(state as StateId);
            }
        }
        let end = |(point, states): (PointId, Vec<StateId>)| {
            self.place(process, (vec![point], Vec::new()), (Cube::new(), true), &states)
        };
        ends.into_iter().map(end).collect()
    }

    /// Where a thread is stuck.
    fn stuck_places(&self, process: ProcessId, stuck: &[Stuck]) -> Vec<Place> {
        let states = &self.free.processes[process].states;
        let mut out = Vec::new();
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
                let meant = self.holding(process, &here, &registers);
                out.push(self.place(process, (vec![point], registers), (memory.clone(), is_fine), &meant));
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

    fn situation(&self, places: &[Place], memory: &Cube) -> Situation {
        let each = || self.program.processes().indices().zip(places);
        let at = each().map(|(process, place)| (process, place.points.clone())).collect();
        let of_place = |(process, place): (ProcessId, &Place)| {
            let is = move |&(register, value): &(RegisterId, i64)| equals(StateVar::Register(process, register), value);
            place.registers.iter().map(is).collect::<Vec<_>>()
        };
        let registers = each().flat_map(of_place);
        let cells = memory.iter().map(|(&x, held)| {
            let values = held.iter().map(|&datum| self.free.values[x][usize::from(datum)]);
            let any = values.map(|value| equals(StateVar::Memory(x), value));
            any.reduce(|a, b| Expr::binary(BinaryOp::Or, a, b)).unwrap_or(Expr::Const(0))
        });
        let all = registers.chain(cells).reduce(|a, b| Expr::binary(BinaryOp::And, a, b));
        Situation { at, condition: all.unwrap_or(Expr::TRUE) }
    }
}

fn few_enough(n_situations: usize) -> Result<(), Unsupported> {
    if n_situations <= MAX_SITUATIONS {
        return Ok(());
    }
    let reason = "threads can be stuck in too many combinations of places".to_owned();
    Err(Unsupported { reason, help: "ask about fewer threads".to_owned() })
}

fn equals(variable: StateVar, value: i64) -> Expr<StateVar> {
    Expr::binary(BinaryOp::Eq, Expr::Var(variable), Expr::Const(value))
}

/// Every memory of a cube, as cubes with one value for each location.
fn singles(memory: &Cube) -> Result<Vec<Cube>, Unsupported> {
    let mut all = vec![Cube::new()];
    for (&x, values) in memory {
        let with = |cube: &Cube, value: Datum| {
            let mut cube = cube.clone();
            cube.insert(x, BTreeSet::from([value]));
            cube
        };
        all = all.iter().flat_map(|cube| values.iter().map(move |&value| with(cube, value))).collect();
        few_enough(all.len())?;
    }
    Ok(all)
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
