//! What holds of memory and the registers of each process by itself: zones found forward, with interference.
//!
//! ```text
//!    I(p, q) ⊇  initial
//!            ⊇  I(p, q') after a step q' → q of p
//!            ⊇  I(p, q)  after a step of another process, from where that one's invariant holds
//! ```
//!
//! Memory evolves as under SC in the load-buffer semantics: only loads are stale. What a load finds is something the
//! location held once, so it is in the range of all it ever holds, and not greater than what it holds now if every
//! write to it is at least what it overwrites. Whether that is so is assumed for every location and then checked in
//! what was found with the assumption: at the first moment that broke it, all invariants would still have held.
//!
//! Under PSO a store changes memory later. There a location that only one process writes stands, in the invariants of
//! that process, for what the process sees: its newest pending store, or memory. To all others it changes at any time.
//!
//! Miné, _Static analysis of run-time errors in embedded critical parallel C programs_, ESOP 2011, with zones.

use crate::engine::StopReason;
use crate::engine::symbolic::effect::{ANY, Effect};
use crate::engine::symbolic::flow::{Act, ProcessFlow, Step};
use crate::engine::symbolic::layout::View;
use crate::engine::symbolic::start::{initial, range};
use crate::engine::symbolic::writers::Writers;
use crate::engine::zones::facts::{Machine, ProcessFacts};
use crate::numeric::{Bound, Term, Widened, Zone};
use crate::program::{LocationId, ProcessId, Program};
use crate::util::{Idx, IndexVec};
use crate::watch::{Monitor, Progress};

/// What the analysis needs to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Premises<'a> {
    /// The program.
    pub program: &'a Program,
    /// The flow of each process.
    pub flows: &'a IndexVec<ProcessId, ProcessFlow>,
    /// The facts of each process.
    pub facts: &'a IndexVec<ProcessId, ProcessFacts>,
    /// Who writes each location.
    pub writers: &'a IndexVec<LocationId, Writers>,
    /// What the model lets a process do.
    pub machine: Machine,
}

/// What was found.
#[derive(Clone, Debug)]
pub(super) struct Invariants {
    /// By process and state, over memory and the registers of the process; `None` where it does not come.
    pub of: IndexVec<ProcessId, Vec<Option<Zone>>>,
    /// What each location can ever hold: bounds on it, and on its negation.
    pub held: IndexVec<LocationId, [Bound; 2]>,
    /// Whether every write to a location is at least what it overwrites.
    pub grows: IndexVec<LocationId, bool>,
}

/// A zone that has grown more often than this grows without bound where it grows.
const PATIENCE: u32 = 6;

impl Invariants {
    /// The invariants of all processes.
    ///
    /// # Errors
    /// The monitor says stop.
    pub(super) fn new(premises: Premises<'_>, monitor: &dyn Monitor) -> Result<Self, StopReason> {
        let may_grow = premises.program.locations().indices().map(|x| premises.reaches_in_order(x));
        let mut grows: IndexVec<LocationId, bool> = may_grow.collect();
        loop {
            let mut analysis = Analysis::new(premises, grows.clone());
            analysis.run(monitor)?;
            let shrinking = analysis.shrinking();
            if shrinking.is_empty() {
                return Ok(analysis.found);
            }
            shrinking.into_iter().for_each(|x| grows[x] = false);
        }
    }
}

impl Premises<'_> {
    /// Whether stores to a location reach memory in the order in which invariants see them.
    fn reaches_in_order(&self, x: LocationId) -> bool {
        self.machine.stage.is_none() || self.writers[x] != Writers::Several || !self.is_stored(x)
    }

    fn is_stored(&self, x: LocationId) -> bool {
        self.facts.iter().any(|facts| facts.stored.contains(&x))
    }

    /// Whether stores to a location wait in the stage, so that it changes at any time for all but a sole writer.
    fn is_delayed(&self, x: LocationId) -> bool {
        self.machine.stage.is_some() && self.is_stored(x)
    }

    /// Whether a load finds what the invariant says of the location.
    fn is_exact(&self, process: ProcessId, state: usize, x: LocationId) -> bool {
        let facts = &self.facts[process];
        self.writers[x].is_only(process) || !facts.may_lag[state] && !facts.may_pend[x.index()][state]
    }

    fn view(&self, process: ProcessId) -> View {
        View::new(self.program.locations().len(), self.program.processes()[process].registers.len())
    }
}

struct Analysis<'a> {
    premises: Premises<'a>,
    found: Invariants,
    /// How often each zone has grown.
    growths: IndexVec<ProcessId, Vec<u32>>,
    /// Those that have grown too often.
    widened: IndexVec<ProcessId, Vec<Option<Widened>>>,
    /// How often what a location can hold has grown.
    held_growths: IndexVec<LocationId, u32>,
}

impl<'a> Analysis<'a> {
    fn new(premises: Premises<'a>, grows: IndexVec<LocationId, bool>) -> Self {
        let n_states = |flow: &ProcessFlow| flow.controls.len();
        let held = premises.program.locations().iter().map(|it| range(it.initial, it.domain));
        let mut analysis = Self {
            premises,
            found: Invariants {
                of: premises.flows.iter().map(|flow| vec![None; n_states(flow)]).collect(),
                held: held.collect(),
                grows,
            },
            growths: premises.flows.iter().map(|flow| vec![0; n_states(flow)]).collect(),
            widened: premises.flows.iter().map(|flow| vec![None; n_states(flow)]).collect(),
            held_growths: IndexVec::filled(premises.program.locations().len(), 0),
        };
        for process in premises.flows.indices() {
            analysis.found.of[process][0] = Some(initial(premises.program, process));
        }
        analysis
    }

    /// Lets everything grow until nothing does.
    fn run(&mut self, monitor: &dyn Monitor) -> Result<(), StopReason> {
        let mut has_grown = true;
        while has_grown {
            has_grown = false;
            for (process, flow) in self.premises.flows.iter_enumerated() {
                for step in &flow.steps {
                    has_grown |= self.step(process, step);
                }
                for state in 0..flow.controls.len() {
                    has_grown |= self.interfere(process, state);
                    if let Some(reason) = monitor.poll(&Progress::default()) {
                        return Err(reason.into());
                    }
                }
            }
        }
        Ok(())
    }

    /// A step of a process by itself; whether anything has grown.
    fn step(&mut self, process: ProcessId, step: &Step) -> bool {
        let Some(before) = self.enabled(process, step) else { return false };
        let view = self.premises.view(process);
        let mut has_grown = false;
        let mut terms: Vec<Term> = (0..view.n_variables()).map(Term::var).collect();
        for (x, written) in writes(step, view) {
            has_grown |= self.hold(x, &before, written);
            let is_seen = self.premises.writers[x].is_only(process) || !self.premises.is_delayed(x);
            if is_seen || !is_store(step) {
                terms[view.location(x)] = written;
            }
        }
        for (&register, &sum) in &step.effect.registers {
            terms[view.register(register)] = view.term(sum);
        }
        let mut after = before.after(&terms);
        let live = &self.premises.facts[process].live[step.to as usize];
        let registers = self.premises.program.processes()[process].registers.indices();
        registers.filter(|register| !live.contains(register)).for_each(|it| after.forget(view.register(it)));
        has_grown | self.grow(process, step.to as usize, after)
    }

    /// Where a step can be taken: its variables, what it loads, what it picks.
    fn enabled(&self, process: ProcessId, step: &Step) -> Option<Zone> {
        let view = self.premises.view(process);
        let mut zone = self.found.of[process][step.from as usize].as_ref()?.extended(view.n_extra(&step.effect));
        if let Act::Load(x) = step.act {
            let (loaded, cell) = (view.loaded(), view.location(x));
            let is_possible = if self.premises.is_exact(process, step.from as usize, x) {
                zone.equate(Term::var(loaded), Term::var(cell))
            } else {
                self.is_held(&mut zone, x, loaded) && (!self.found.grows[x] || zone.add(loaded, cell, Bound::ZERO))
            };
            if !is_possible {
                return None;
            }
        }
        view.admit(&mut zone, &step.effect).then_some(zone)
    }

    fn is_held(&self, zone: &mut Zone, x: LocationId, variable: usize) -> bool {
        let [above, below] = self.found.held[x];
        zone.add(variable, 0, above) && zone.add(0, variable, below)
    }

    /// A location may hold this; whether that is new.
    fn hold(&mut self, x: LocationId, zone: &Zone, written: Term) -> bool {
        let value = zone.after(&[Term::constant(0), written]);
        let mut has_grown = false;
        for (held, new) in self.found.held[x].iter_mut().zip([value.bound(1, 0), value.bound(0, 1)]) {
            if new > *held {
                has_grown = true;
                self.held_growths[x] += 1;
                *held = if self.held_growths[x] > 2 * PATIENCE { Bound::NONE } else { new };
            }
        }
        has_grown
    }

    /// What others do to memory while a process is in a state; whether its invariant has grown.
    fn interfere(&mut self, process: ProcessId, state: usize) -> bool {
        let mut has_grown = false;
        for (other, flow) in self.premises.flows.iter_enumerated().filter(|(other, _)| *other != process) {
            for step in &flow.steps {
                let is_at_once = match step.act {
                    Act::Store(x, _) => !self.premises.is_delayed(x),
                    Act::Atomic(_) => !step.effect.memory.is_empty(),
                    Act::Local | Act::Load(_) | Act::Fence(_) => false,
                };
                if is_at_once && let Some(after) = self.after_other((process, state), other, step) {
                    has_grown |= self.grow(process, state, after);
                }
            }
        }
        for x in self.premises.program.locations().indices() {
            if self.premises.is_delayed(x) && !self.premises.writers[x].is_only(process) {
                has_grown |= self.change(process, state, x);
            }
        }
        has_grown
    }

    /// What a process knows after a step of another one.
    fn after_other(&self, at: (ProcessId, usize), other: ProcessId, step: &Step) -> Option<Zone> {
        let mine = self.found.of[at.0][at.1].as_ref()?;
        let theirs = self.found.of[other][step.from as usize].as_ref()?;
        let (view, other_view) = (self.premises.view(at.0), self.premises.view(other));
        let n = view.n_variables();
        // The other's variables come behind; both see the same memory, except what one of them sees before others do.
        let is_shared = |x: LocationId| !self.premises.is_delayed(x) || self.premises.writers[x] == Writers::Several;
        let mut both = mine.extended(other_view.n_variables() - 1 + other_view.n_extra(&step.effect));
        let place = |i: usize| match i {
            0 => 0,
            i if other_view.location_at(i).is_some_and(is_shared) => i,
            i => n - 1 + i,
        };
        if !both.meet(theirs, place) || !other_view.admit_at(&mut both, &step.effect, place) {
            return None;
        }
        let mut terms: Vec<Term> = (0..n).map(Term::var).collect();
        for (x, written) in writes(step, other_view) {
            terms[view.location(x)] = Term { base: place(written.base), plus: written.plus };
        }
        Some(both.after(&terms))
    }

    /// A store to a location leaves the stage of some process.
    fn change(&mut self, process: ProcessId, state: usize, x: LocationId) -> bool {
        let Some(zone) = &self.found.of[process][state] else { return false };
        let view = self.premises.view(process);
        let (n, cell) = (view.n_variables(), view.location(x));
        let mut changed = zone.extended(1);
        if !self.is_held(&mut changed, x, n) || (self.found.grows[x] && !changed.add(cell, n, Bound::ZERO)) {
            return false;
        }
        let terms: Vec<Term> = (0..n).map(|i| Term::var(if i == cell { n } else { i })).collect();
        let after = changed.after(&terms);
        self.grow(process, state, after)
    }

    /// An invariant holds this as well; whether that is new.
    fn grow(&mut self, process: ProcessId, state: usize, more: Zone) -> bool {
        let Some(zone) = &mut self.found.of[process][state] else {
            self.found.of[process][state] = Some(more);
            return true;
        };
        if zone.includes(&more) {
            return false;
        }
        self.growths[process][state] += 1;
        if self.growths[process][state] > PATIENCE {
            let widened = self.widened[process][state].get_or_insert_with(|| Widened::new(zone));
            let before = std::mem::replace(zone, widened.widened(&more));
            // What is added may be there already, though its bounds do not say so: remainders are no bounds.
            return *zone != before;
        }
        zone.join(&more);
        true
    }

    /// The locations that were assumed to grow, and may not.
    fn shrinking(&self) -> Vec<LocationId> {
        let mut shrinking = Vec::new();
        for (process, flow) in self.premises.flows.iter_enumerated() {
            let view = self.premises.view(process);
            for step in &flow.steps {
                let Some(before) = self.enabled(process, step) else { continue };
                for (x, written) in writes(step, view).into_iter().filter(|(x, _)| self.found.grows[*x]) {
                    let change = before.after(&[Term::constant(0), Term::var(view.location(x)), written]);
                    if change.bound(1, 2) > Bound::ZERO {
                        shrinking.push(x);
                    }
                }
            }
        }
        shrinking
    }
}

/// What a step writes to memory, over its variables.
fn writes(step: &Step, view: View) -> Vec<(LocationId, Term)> {
    let stored = match step.act {
        Act::Store(x, sum) => Some((x, view.term(sum))),
        Act::Local | Act::Load(_) | Act::Fence(_) | Act::Atomic(_) => None,
    };
    step.effect.memory.iter().map(|(&x, &sum)| (x, view.term(sum))).chain(stored).collect()
}

fn is_store(step: &Step) -> bool {
    match step.act {
        Act::Store(..) => true,
        Act::Local | Act::Load(_) | Act::Fence(_) | Act::Atomic(_) => false,
    }
}

/// Where the variables of an effect are in the zone of one process.
impl View {
    fn admit(self, zone: &mut Zone, effect: &Effect) -> bool {
        self.admit_at(zone, effect, |i| i)
    }

    /// Adds what an effect asks for, where its variables have been moved.
    fn admit_at(self, zone: &mut Zone, effect: &Effect, place: impl Fn(usize) -> usize) -> bool {
        let variable = |it| place(self.variable(it));
        effect.picks.iter().enumerate().filter(|it| *it.1 != ANY).all(|(i, &(lo, hi))| {
            let picked = place(self.picked(i));
            zone.add(picked, 0, Bound::at_most(hi)) && zone.add(0, picked, Bound::ZERO.shifted(-i128::from(lo)))
        }) && effect
            .when
            .differences
            .iter()
            .all(|it| zone.add(it.left.map_or(0, variable), it.right.map_or(0, variable), Bound::at_most(it.bound)))
            && effect
                .when
                .remainders
                .iter()
                .all(|it| zone.add_remainder(variable(it.variable), it.modulus, it.remainder))
    }
}
