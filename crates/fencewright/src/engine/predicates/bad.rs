//! The bad situations: where processes are in them, and when data is bad there.

use crate::engine::Unsupported;
use crate::engine::predicates::ENGINE;
use crate::engine::predicates::machine::{Guard, Machine, Skeleton};
use crate::engine::predicates::waiting::Shape;
use crate::engine::symbolic::difference::{Beyond, Conjunction};
use crate::engine::symbolic::flow::StateId;
use crate::engine::symbolic::layout::Layout;
use crate::engine::symbolic::refusal::beyond_property;
use crate::engine::symbolic::situation::{conditions, fitting};
use crate::numeric::{Bound, Zone};
use crate::program::{PropertyKind, StateVar};

/// All that is bad.
#[derive(Debug)]
pub struct Bad {
    situations: Vec<BadSituation>,
    /// The state of each process in which a step has gone wrong.
    faults: Vec<StateId>,
}

#[derive(Debug)]
struct BadSituation {
    kind: PropertyKind,
    /// For each process, where it is; ascending.
    states: Vec<Vec<StateId>>,
    /// One of these holds.
    alternatives: Vec<Vec<Guard>>,
}

impl Bad {
    /// What is bad in a program.
    pub fn new(machine: &Machine<'_>) -> Result<Self, Unsupported> {
        let mut situations = Vec::new();
        for property in machine.program.properties() {
            for situation in &property.situations {
                let alternatives = conditions(machine.program, situation);
                let alternatives = alternatives.map_err(|Beyond| beyond_property(ENGINE, machine.program, property))?;
                let states = machine.flows.iter_enumerated().map(|(process, flow)| fitting(flow, situation, process));
                situations.push(BadSituation {
                    kind: property.kind,
                    states: states.collect(),
                    alternatives: alternatives.iter().map(|it| guards(machine.layout, it)).collect(),
                });
            }
        }
        Ok(Self { situations, faults: machine.flows.iter().map(|flow| flow.fault()).collect() })
    }

    /// What makes a configuration bad, if it may be.
    pub fn reached(&self, at: &Skeleton, zone: &Zone) -> Option<Vec<Guard>> {
        if at.states.iter().zip(&self.faults).any(|(state, fault)| state == fault) {
            return Some(Vec::new());
        }
        let is_drained = at.shapes.iter().all(Shape::is_empty);
        let mut fitting = self.situations.iter().filter(|it| it.fits(at, is_drained));
        fitting.find_map(|it| it.alternatives.iter().find(|alternative| holds(zone, alternative)).cloned())
    }

    /// The bounds that conditions speak of.
    pub fn guards(&self) -> impl Iterator<Item = Guard> {
        self.situations.iter().flat_map(|it| it.alternatives.iter().flatten().copied())
    }
}

impl BadSituation {
    fn fits(&self, at: &Skeleton, is_drained: bool) -> bool {
        let is_time = match self.kind {
            PropertyKind::Control => true,
            PropertyKind::Final => is_drained,
        };
        is_time && at.states.iter().zip(&self.states).all(|(state, states)| states.binary_search(state).is_ok())
    }
}

fn holds(zone: &Zone, guards: &[Guard]) -> bool {
    let mut zone = zone.clone();
    guards.iter().all(|it| zone.add(it.left, it.right, it.bound))
}

fn guards(layout: &Layout, condition: &Conjunction<StateVar>) -> Vec<Guard> {
    let variable = |it: Option<StateVar>| match it {
        None => 0,
        Some(StateVar::Register(process, register)) => layout.register(process, register),
        Some(StateVar::Memory(x)) => layout.location(x),
    };
    let guard = condition.iter().map(|it| Guard {
        left: variable(it.left),
        right: variable(it.right),
        bound: Bound::at_most(it.bound),
    });
    guard.collect()
}
