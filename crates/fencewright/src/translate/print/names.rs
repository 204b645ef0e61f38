//! Names for everything that a text mentions: as in the original where that can be, and no two alike.

use std::collections::BTreeSet;

use crate::program::{ArrayId, LocationId, PointId, ProcessId, Program, RegisterId};
use crate::util::IndexVec;

/// Words that mean something in one of the languages.
const RESERVED: &str = "\
    any assert assume at atomic bool break choose const continue do else end false fence fn for forbid full \
    goto if in int let loop max min or predicate return shared store thread true while cas swap fetch_add auto \
    case char default double enum extern float inline long main register restrict short signed sizeof static \
    struct switch typedef union unsigned void volatile bit byte chan d_step empty eval fi init len ltl mtype \
    nempty never nfull notrace np_ od of pc_value printf priority proctype provided run select skip timeout \
    trace typename unless xr xs active hidden monitor done overflow and not ite div mod abs distinct forall \
    exists state reach_error check abort NULL pthread_t stdin stdout";

/// Whether the registers of different processes may have the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Registers belong to their process.
    Local,
    /// One scope for all: registers carry the name of their process.
    Global,
}

/// The names of a text.
#[derive(Debug)]
pub(super) struct Names {
    /// The variable of a location that is not a cell.
    locations: IndexVec<LocationId, String>,
    arrays: IndexVec<ArrayId, String>,
    pub processes: IndexVec<ProcessId, String>,
    registers: IndexVec<ProcessId, IndexVec<RegisterId, String>>,
    points: IndexVec<PointId, String>,
}

impl Names {
    pub(super) fn new(program: &Program, scope: Scope) -> Self {
        let mut used: BTreeSet<String> = RESERVED.split_whitespace().map(str::to_owned).collect();
        let arrays: IndexVec<ArrayId, String> =
            program.arrays().iter().map(|array| fresh(&mut used, &array.name)).collect();
        let mut locations = IndexVec::filled(program.locations().len(), String::new());
        for (x, location) in program.locations().iter_enumerated() {
            let cell = program.arrays().iter_enumerated().find_map(|(id, array)| {
                let index = array.cells().position(|cell| cell == x)?;
                Some(format!("{}[{index}]", arrays[id]))
            });
            locations[x] = cell.unwrap_or_else(|| fresh(&mut used, &location.name));
        }
        let processes: IndexVec<ProcessId, String> =
            program.processes().iter().map(|process| fresh(&mut used, &process.name)).collect();
        let mut registers = IndexVec::new();
        for (id, process) in program.processes().iter_enumerated() {
            let mut own = used.clone();
            let prefix = match scope {
                Scope::Local => String::new(),
                Scope::Global => format!("{}_", processes[id]),
            };
            let taken = if scope == Scope::Local { &mut own } else { &mut used };
            let names = process.registers.iter().map(|register| fresh(taken, &format!("{prefix}{}", register.name)));
            registers.push(names.collect());
        }
        let points = points(program, &processes, scope);
        Self { locations, arrays, processes, registers, points }
    }

    /// Memory is part of something larger, so that its names are nothing else's.
    pub(super) fn within(mut self, whole: &str) -> Self {
        let names = self.locations.iter_mut().chain(self.arrays.iter_mut());
        names.for_each(|name| *name = format!("{whole}.{name}"));
        self
    }

    pub(super) fn location(&self, x: LocationId) -> &str {
        &self.locations[x]
    }

    pub(super) fn array(&self, array: ArrayId) -> &str {
        &self.arrays[array]
    }

    pub(super) fn register(&self, process: ProcessId, register: RegisterId) -> &str {
        &self.registers[process][register]
    }

    pub(super) fn point(&self, point: PointId) -> &str {
        &self.points[point]
    }
}

/// A point has its first label, or a number counted within its process.
fn points(program: &Program, processes: &IndexVec<ProcessId, String>, scope: Scope) -> IndexVec<PointId, String> {
    // The name of a point is nothing else's name.
    let words = RESERVED.split_whitespace().filter(|&word| word != "overflow");
    let reserved: BTreeSet<String> = words.map(str::to_owned).collect();
    let mut used = IndexVec::filled(processes.len(), reserved);
    let mut counts = IndexVec::filled(processes.len(), 0);
    let points = program.points().iter().map(|point| {
        let count: &mut usize = &mut counts[point.process];
        *count += 1;
        let name = point.labels.first().cloned().unwrap_or_else(|| format!("p{count}"));
        let prefix = match scope {
            Scope::Local => String::new(),
            Scope::Global => format!("{}_", processes[point.process]),
        };
        fresh(&mut used[point.process], &format!("{prefix}{name}"))
    });
    points.collect()
}

/// A name like the one wanted that is not in use.
fn fresh(used: &mut BTreeSet<String>, wanted: &str) -> String {
    let mut name: String = wanted.trim_start_matches('$').replace(['[', '('], "_").replace([']', ')'], "");
    name = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name = format!("v{name}");
    }
    let others = (2..).map(|i| format!("{name}_v{i}"));
    let found = std::iter::once(name.clone()).chain(others).find(|name| !used.contains(name));
    let found = found.expect("there is always another name");
    used.insert(found.clone());
    found
}
