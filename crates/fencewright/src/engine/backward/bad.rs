//! The bad situations of a program, for a search to start from: named processes in local states that fit, memory as
//! asked, everything else open. All buffers are empty: a bad configuration can drain them and is still bad.

use crate::engine::automaton::{Datum, ProcessAutomaton, RegisterFree, StateId};
use crate::program::{LocationId, ProcessId, Program, Situation, StateVar, Value};
use crate::util::Idx;
use crate::watch::{Monitor, Progress, Stop, heed};

/// The work of looking at a choice of states and of memory.
const WORK_PER_CHOICE: u64 = 2;

/// The work of listing one that is bad, and of making a constraint of it.
const WORK_PER_BAD: u32 = 8;

/// What a bad situation takes, with the constraint that is made of it, roughly.
const BYTES: u64 = 256;

/// A bad situation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bad {
    /// Where processes are; one that is not named may be anywhere.
    pub states: Vec<(ProcessId, StateId)>,
    /// What memory holds; a location that is not named may hold anything.
    pub memory: Vec<(LocationId, Datum)>,
}

/// Tells a monitor what the bad situations will take before they are listed: they are a product.
pub(super) fn announce(
    source: &Program,
    program: &RegisterFree,
    absent: bool,
    monitor: &dyn Monitor,
) -> Result<(), Stop> {
    let maker = Maker { program, absent };
    let situations = source.properties().iter().flat_map(|property| &property.situations);
    let of_properties = situations.map(|situation| {
        let (choices, memory) = maker.choices(situation);
        maker.n_of(&choices, &memory)
    });
    let n_states = |(process, automaton): (ProcessId, &ProcessAutomaton)| {
        let n_faults = automaton.states.iter().filter(|info| info.fault.is_some()).count() as u64;
        n_faults.saturating_mul(maker.n_of(&[(process, vec![0])], &[]))
    };
    let of_faults = program.processes.iter_enumerated().map(n_states);
    let n = of_properties.chain(of_faults).fold(0, u64::saturating_add);
    let progress = Progress { bytes: n.saturating_mul(BYTES), ..Progress::default() };
    monitor.poll(&progress).map_or(Ok(()), Err)
}

/// The bad situations. With `absent`, processes that do not matter are left open.
pub(super) fn bad_situations(source: &Program, program: &RegisterFree, absent: bool) -> Vec<Bad> {
    let maker = Maker { program, absent };
    let mut out = Vec::new();
    for situation in source.properties().iter().flat_map(|property| &property.situations) {
        maker.of_situation(situation, &mut out);
    }
    for (process, automaton) in program.processes.iter_enumerated() {
        for (state, info) in automaton.states.iter().enumerate() {
            if info.fault.is_some() {
                let choice = [(process, vec![state as StateId])];
                maker.each(&choice, &[], &mut |bad| out.push(bad.clone()));
            }
        }
    }
    out
}

struct Maker<'a> {
    program: &'a RegisterFree,
    absent: bool,
}

impl Maker<'_> {
    /// What a situation leaves open: states of the processes it names, and the locations it names.
    fn choices(&self, situation: &Situation) -> (Vec<(ProcessId, Vec<StateId>)>, Vec<LocationId>) {
        let mut named: Vec<ProcessId> = situation.at.iter().map(|(process, _)| *process).collect();
        let mut memory: Vec<LocationId> = Vec::new();
        situation.condition.for_each_var(&mut |variable| match variable {
            StateVar::Register(process, _) => named.push(*process),
            StateVar::Memory(x) => memory.push(*x),
        });
        named.sort_unstable();
        named.dedup();
        memory.sort_unstable();
        memory.dedup();
        (named.iter().map(|&process| (process, self.fitting(situation, process))).collect(), memory)
    }

    /// How many choices of states and of memory there are.
    fn n_of(&self, choices: &[(ProcessId, Vec<StateId>)], memory: &[LocationId]) -> u64 {
        let named = choices.iter().map(|it| it.1.len());
        let is_open = |process: &ProcessId| !self.absent && choices.iter().all(|choice| choice.0 != *process);
        let open = self.program.processes.indices().filter(is_open);
        let open = open.map(|process| self.program.processes[process].states.len());
        let cells = memory.iter().map(|&x| self.program.values[x].len());
        named.chain(open).chain(cells).fold(1, |n: u64, more| n.saturating_mul(more as u64))
    }

    fn of_situation(&self, situation: &Situation, out: &mut Vec<Bad>) {
        let (choices, memory) = self.choices(situation);
        // Said beforehand: in a race with other engines, many are looked at only when the others have had as long.
        let work = self.n_of(&choices, &memory).saturating_mul(WORK_PER_CHOICE);
        heed(u32::try_from(work).unwrap_or(u32::MAX));
        self.each(&choices, &memory, &mut |bad| {
            let value_of = |variable: &StateVar| self.value(variable, bad);
            if situation.condition.eval(&value_of).is_ok_and(|value| value != 0) {
                heed(WORK_PER_BAD);
                out.push(bad.clone());
            }
        });
    }

    /// The states of a process that a situation does not exclude.
    fn fitting(&self, situation: &Situation, process: ProcessId) -> Vec<StateId> {
        let states = self.program.processes[process].states.iter().enumerate();
        let fits = states.filter(|(_, info)| info.fault.is_none() && situation.admits(process, info.point));
        fits.map(|(state, _)| state as StateId).collect()
    }

    fn value(&self, variable: &StateVar, bad: &Bad) -> Value {
        match variable {
            StateVar::Register(process, register) => {
                let state = bad.states.iter().find(|it| it.0 == *process).expect("its process is named").1;
                self.program.processes[*process].states[state as usize].registers[register.index()]
            }
            StateVar::Memory(x) => {
                let cell = bad.memory.iter().find(|it| it.0 == *x).expect("its location is named").1;
                self.program.values[*x][usize::from(cell)]
            }
        }
    }

    /// Calls `visit` with every choice of states and of memory, the last named turning first.
    fn each(&self, choices: &[(ProcessId, Vec<StateId>)], memory: &[LocationId], visit: &mut impl FnMut(&Bad)) {
        let mut choices = choices.to_vec();
        if !self.absent {
            for process in self.program.processes.indices() {
                if choices.iter().all(|choice| choice.0 != process) {
                    let all = 0..self.program.processes[process].states.len() as StateId;
                    choices.push((process, all.collect()));
                }
            }
        }
        let n_values = |x: &LocationId| self.program.values[*x].len();
        let sizes: Vec<usize> = choices.iter().map(|it| it.1.len()).chain(memory.iter().map(n_values)).collect();
        if sizes.contains(&0) {
            return;
        }
        let mut digits = vec![0; sizes.len()];
        let states = choices.iter().map(|(process, states)| (*process, states[0])).collect();
        let mut bad = Bad { states, memory: memory.iter().map(|&x| (x, 0)).collect() };
        loop {
            heed(1);
            visit(&bad);
            let Some(turning) = (0..digits.len()).rev().find(|&it| digits[it] + 1 < sizes[it]) else { return };
            digits[turning] += 1;
            digits[turning + 1..].fill(0);
            for (at, &digit) in digits.iter().enumerate().skip(turning) {
                match choices.get(at) {
                    Some((_, states)) => bad.states[at].1 = states[digit],
                    None => bad.memory[at - choices.len()].1 = digit as Datum,
                }
            }
        }
    }
}
