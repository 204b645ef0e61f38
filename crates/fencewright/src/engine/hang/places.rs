//! Where all threads are at once in a hang: each has ended, or is stuck with memory as it is.
//!
//! What cannot be is left out: nobody can have left memory so ([`written`](super::written)), or the threads are never
//! there at once ([`together`](super::together)).

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use crate::engine::Unsupported;
use crate::engine::automaton::{Datum, RegisterFree, StateId};
use crate::program::{BinaryOp, Expr, PointId, ProcessId, Program, RegisterId, Situation, StateVar};
use crate::util::{Idx, IndexVec};

use super::stuck::{Cube, Stuck};
use super::together::Together;
use super::written::{Written, Wrote};
use super::{Hang, Others, others};

/// More combinations of places than this are too many.
const MAX_SITUATIONS: usize = 50_000;

/// A thread at one of some points, with what registers and memory hold.
#[derive(Clone, Debug)]
struct Place {
    points: Vec<PointId>,
    registers: Vec<(RegisterId, i64)>,
    memory: Cube,
    /// Whether it may be there for ever.
    is_fine: bool,
    /// The local states that are meant.
    states: Vec<StateId>,
    /// What it may have stored last.
    wrote: BTreeSet<Wrote>,
}

/// Makes situations of places.
pub(super) struct Maker<'a> {
    pub hang: &'a Hang,
    pub program: &'a Program,
    pub free: &'a RegisterFree,
    pub written: Written<'a>,
    pub together: Together,
}

impl Maker<'_> {
    /// Every combination of places in which all threads are, some of which should not be.
    pub(super) fn situations(&self, stuck: &IndexVec<ProcessId, Vec<Stuck>>) -> Result<Vec<Situation>, Unsupported> {
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
                if self.is_possible(&places, &memory) {
                    situations.push(self.situation(&places, &memory));
                }
            }
            few_enough(situations.len())?;
        }
        Ok(situations)
    }

    /// Whether threads can be in these places at once, with memory like this and all buffers empty.
    fn is_possible(&self, places: &[Place], memory: &Cube) -> bool {
        let states: Vec<&[StateId]> = places.iter().map(|place| &place.states[..]).collect();
        let one_of = |wrote: &[BTreeSet<Wrote>]| self.written.is_possible(memory, &wrote.iter().collect::<Vec<_>>());
        let processes = || self.program.processes().indices();
        match self.together.of(&states) {
            Some(all) => all.iter().any(|states| {
                let wrote = processes().zip(states).map(|(process, &state)| self.written.of(process, &[state]));
                one_of(&wrote.collect::<Vec<_>>())
            }),
            None => one_of(&places.iter().map(|place| place.wrote.clone()).collect::<Vec<_>>()),
        }
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
        let wrote = self.written.of(process, states);
        Place { points, registers, memory, is_fine, states: states.to_vec(), wrote }
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
            let is_fine = points.into_iter().any(|point| self.hang.may_wait(self.program, process, point));
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

pub(super) fn few_enough(n_situations: usize) -> Result<(), Unsupported> {
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
