//! A proof by abstraction: with store buffers and data seen through a given grid, nothing bad can be reached.
//!
//! For programs with unbounded integers. The certificate names the grid: of each store buffer the newest `k` stores are
//! kept in order ([`buffer`]); of data the bounds on variables and on differences of two variables, each raised to the
//! next *threshold*, remainders by one number, and linear constraints from a list ([`linear`]). That leaves finitely
//! many configurations. The checker visits them all; to list them in the certificate would save it nothing, since to
//! see that a list is closed takes every step that finds it.
//!
//! ```text
//!    certificate: k, thresholds ──▶ visit: configuration ──step──▶ configurations, each raised to the grid
//!                                                                    ╰── is one of them bad? then it is refused
//! ```
//!
//! Why that is enough: every configuration of the reference semantics is in one that is visited. It is at the start;
//! each step of the semantics is one here ([`step`]), since data is computed exactly ([`evaluate`]), a buffer stands
//! for all it may hold, and raising a bound only adds. Steps are left out in one case ([`urgent`](super::urgent)): they
//! can wait. Stores are taken to reach memory at once in another ([`late`]): nobody else can tell.
//!
//! The same for some threads against any behavior of the others ([`Known`]), as in [`projections`](super::projections):
//! only these take steps, and a *foreign* location, one that others may write, has no variable. What a load, an update
//! or a block finds there is any value of its range, any integer if it has none; what is stored there is in no buffer
//! and no memory, only that it is in the range is looked at. Fences and updates wait as they did, for fewer stores;
//! under PSO an update of a foreign location that waits for the stores to it alone waits for nothing. So each run up to
//! the first thing that goes wrong, without the steps of the others and without foreign stores, is one here. Situations
//! are looked at of which it is known who is in them, and whatever these threads do wrong by themselves.
//!
//! Abdulla, Atig, Chen, Leonardsson, Rezine, _Automatic Fence Insertion in Integer Programs via Predicate Abstraction_,
//! SAS 2012, section 4, with thresholds in place of predicates.

mod bad;
mod buffer;
mod configuration;
mod data;
mod evaluate;
mod late;
mod linear;
mod step;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use crate::memory::Buffering;
use crate::numeric::{Bound, Zone};
use crate::program::{LocationId, Placement, ProcessId, Program, Scales, Value};
use crate::system::{Control, Flow};
use crate::util::IndexVec;
use crate::watch::heed;

use super::Subject;
use super::live::Live;
use super::urgent::{Urgent, waits_for};
use super::verify::{Failure, Steps};

use bad::Bad;
use configuration::{Configuration, Key, Layout};
use data::Data;
use late::{loads_at, waiting_points};
use step::{Next, Stepper};

pub(super) use bad::may_hold;
pub(super) use configuration::Known;
pub use linear::{Predicate, Site};

/// A grid through which a program is seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Abstraction {
    /// So many of the newest stores are kept in order: of a buffer under TSO, to each location under PSO.
    pub k: u32,
    /// Thresholds of bounds on one variable, from above and from below.
    pub single: BTreeSet<Value>,
    /// Thresholds of bounds on differences.
    pub pair: BTreeSet<Value>,
    /// What the remainders are by that are kept of values, if some are.
    pub modulus: Option<u32>,
    /// Constraints that are no bounds on differences, kept where they follow.
    pub predicates: Vec<Predicate>,
    /// The locations to which stores rise: none that waits is above one that a process makes later.
    pub rising: BTreeSet<LocationId>,
    /// The processes whose stores reach memory at once, and whose loads find anything while a store might wait.
    pub late: BTreeSet<ProcessId>,
    /// The locations of which memory never holds less than before, so that what such a load finds is at most that.
    pub growing: BTreeSet<LocationId>,
    /// By how much variables are multiplied before anything is looked at.
    pub scales: Scales,
}

/// What becomes of the stores of a process.
#[derive(Debug)]
struct Storing {
    machine: Buffering,
    /// Where its loads find anything.
    stale: BTreeSet<Control>,
}

/// Checks that nothing bad can be reached.
pub(super) fn check(
    program: &Program,
    placement: &Placement,
    subject: &Subject,
    abstraction: &Abstraction,
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    check_kept(Flow { program, placement }, subject, (abstraction, &Known::all(program)), steps)
}

/// Checks that some threads reach nothing bad, whatever the others do.
pub(super) fn check_kept(
    Flow { program, placement }: Flow<'_>,
    subject: &Subject,
    (abstraction, known): (&Abstraction, &Known),
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    let scaled = scaled(program, abstraction)?;
    visiting(Flow { program: &scaled, placement }, subject.buffering()?, (abstraction, known), |visit| visit.run(steps))
}

fn scaled<'a>(program: &'a Program, Abstraction { scales, .. }: &Abstraction) -> Result<Cow<'a, Program>, Failure> {
    match scales.is_empty() {
        true => Ok(Cow::Borrowed(program)),
        false => in_other_units(program, scales).map(Cow::Owned),
    }
}

/// The program with every variable multiplied.
fn in_other_units(program: &Program, scales: &Scales) -> Result<Program, Failure> {
    program.scaled(scales).ok_or_else(|| Failure::Refused("the scales do not fit the program".to_owned()))
}

/// Does something with a visit that has not begun.
fn visiting<T>(
    flow: Flow<'_>,
    machine: Buffering,
    (abstraction, known): (&Abstraction, &Known),
    then: impl FnOnce(&mut Visit<'_>) -> T,
) -> T {
    let Abstraction { k, rising, late, growing, .. } = abstraction;
    let foreign = &known.foreign;
    let store = |process: ProcessId| match waiting_points(flow, process, machine, foreign) {
        Some(points) if !loads_at(flow, process, &points, foreign) => {
            Storing { machine: Buffering::None, stale: BTreeSet::new() }
        }
        Some(stale) if late.contains(&process) => Storing { machine: Buffering::None, stale },
        Some(_) | None => Storing { machine, stale: BTreeSet::new() },
    };
    let storing: IndexVec<ProcessId, Storing> = flow.program.processes().indices().map(store).collect();
    let layout = Layout::new(flow.program, known);
    then(&mut Visit {
        abstraction,
        known,
        urgent: Urgent::new(flow),
        live: Live::new(flow.program),
        bad: Bad { program: flow.program, layout: &layout, known },
        stepper: Stepper { flow, known, layout: &layout, storing: &storing, k: *k as usize, rising, growing },
        seen: HashMap::new(),
        todo: Vec::new(),
        bytes: 0,
    })
}

/// The configurations that have been visited.
struct Visit<'a> {
    abstraction: &'a Abstraction,
    known: &'a Known,
    stepper: Stepper<'a>,
    urgent: Urgent,
    live: Live,
    bad: Bad<'a>,
    /// By control and buffers; none of those of one includes another.
    seen: HashMap<Key, Vec<Data>>,
    todo: Vec<Configuration>,
    bytes: u64,
}

impl Visit<'_> {
    fn run(&mut self, steps: &mut Steps<'_>) -> Result<(), Failure> {
        let mut start = Configuration::initial(self.stepper.flow.program, self.known, self.stepper.layout);
        start.data.zone = start.data.zone.with_modulus(self.abstraction.modulus.map_or(1, Value::from));
        self.add(start, steps)?;
        while let Some(configuration) = self.todo.pop() {
            steps.step(self.bytes)?;
            let is_replaced = !self.seen[&configuration.key].contains(&configuration.data);
            if is_replaced {
                continue;
            }
            for next in self.stepper.all(&configuration)? {
                self.land(next, steps)?;
            }
        }
        Ok(())
    }

    fn land(&mut self, next: Next, steps: &mut Steps<'_>) -> Result<(), Failure> {
        match next {
            Next::Configuration(next) => self.add(next, steps),
            Next::Fault(edge) => {
                let program = self.stepper.flow.program;
                let line = program.source().line_name(program.edges()[edge].span);
                Failure::refused(format!("with this abstraction {line} may go wrong"))
            }
        }
    }

    /// Comes to a configuration: goes on at once if a process there is urgent, else raises it to the grid.
    fn add(&mut self, mut configuration: Configuration, steps: &mut Steps<'_>) -> Result<(), Failure> {
        steps.step(self.bytes)?;
        self.forget_dead(&mut configuration);
        self.bad.check(&configuration)?;
        if let Some(process) = self.urgent_process(&configuration)? {
            for next in self.stepper.moves(&configuration, process)? {
                self.land(next, steps)?;
            }
            return Ok(());
        }
        configuration.data = self.raised(&configuration);
        self.bad.check(&configuration)?;
        let Configuration { key, data } = &configuration;
        let alike = self.seen.entry(key.clone()).or_default();
        if alike.iter().any(|it| it.includes(data)) {
            return Ok(());
        }
        alike.retain(|it| !data.includes(it));
        alike.push(data.clone());
        self.bytes += (data.zone.n_variables() * data.zone.n_variables() * 16 + 256) as u64;
        self.todo.push(configuration);
        Ok(())
    }

    /// Forgets what does not matter any more. That only adds configurations.
    fn forget_dead(&self, Configuration { key, data }: &mut Configuration) {
        for &process in &self.known.threads {
            let dead = self.live.dead(process, key.controls[process]);
            dead.for_each(|it| data.forget(self.stepper.layout.register(process, it)));
        }
    }

    /// A process for which the others wait, if there is one.
    fn urgent_process(&self, at: &Configuration) -> Result<Option<ProcessId>, Failure> {
        let controls = self.known.threads.iter().map(|&process| (process, at.key.controls[process]));
        for (process, control) in controls.filter(|it| self.urgent.is_at(it.0, it.1)) {
            if let Some(conditions) = waits_for(self.stepper.flow, control)
                && self.stepper.may_block(at, process, &conditions)?
            {
                continue;
            }
            return Ok(Some(process));
        }
        Ok(None)
    }

    /// What the grid keeps of data.
    fn raised(&self, Configuration { key, data }: &Configuration) -> Data {
        heed(16);
        let rows = self.abstraction.predicates.iter().filter_map(|it| it.row(key, self.stepper.layout));
        data.weakened(raised(&data.zone, self.abstraction), rows)
    }
}

/// Every bound raised to the next threshold, or dropped if there is none.
fn raised(zone: &Zone, abstraction: &Abstraction) -> Zone {
    zone.loosened(|i, j, bound| {
        let Some(value) = bound.value() else { return Bound::NONE };
        let thresholds = if i == 0 || j == 0 { &abstraction.single } else { &abstraction.pair };
        thresholds.range(value..).next().map_or(Bound::NONE, |&threshold| Bound::at_most(threshold))
    })
}

#[cfg(test)]
mod solver_tests;
