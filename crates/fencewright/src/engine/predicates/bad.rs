//! The bad situations: where processes are in them, and when data is bad there.

use crate::engine::Unsupported;
use crate::engine::predicates::ASKER;
use crate::engine::predicates::machine::{Condition, Guard, Machine, Skeleton, row_of};
use crate::engine::predicates::waiting::Shape;
use crate::engine::symbolic::difference::{Beyond, Conjunction};
use crate::engine::symbolic::flow::{ProcessFlow, StateId};
use crate::engine::symbolic::layout::Layout;
use crate::engine::symbolic::refusal::beyond_property;
use crate::engine::symbolic::situation::{conditions, fitting};
use crate::numeric::{Bound, Row, Zone};
use crate::program::{PropertyKind, StateVar};

/// All that is bad.
#[derive(Debug)]
pub(super) struct Bad {
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
    alternatives: Vec<Condition>,
}

impl Bad {
    /// What is bad in a program.
    pub(super) fn new(machine: &Machine<'_>) -> Result<Self, Unsupported> {
        let mut situations = Vec::new();
        for property in machine.program.properties() {
            for situation in &property.situations {
                let alternatives = conditions(machine.program, &situation.condition, ASKER.arithmetic);
                let alternatives = alternatives.map_err(|Beyond| beyond_property(ASKER, machine.program, property))?;
                let states = machine.flows.iter_enumerated().map(|(process, flow)| fitting(flow, situation, process));
                situations.push(BadSituation {
                    kind: property.kind,
                    states: states.collect(),
                    alternatives: alternatives.iter().map(|it| condition(machine.layout, it)).collect(),
                });
            }
        }
        Ok(Self { situations, faults: machine.flows.iter().map(ProcessFlow::fault).collect() })
    }

    /// What makes a configuration bad, if it may be; data is in the zone and keeps to the rows.
    pub(super) fn reached(&self, at: &Skeleton, zone: &Zone, known: &[Row]) -> Option<Condition> {
        if at.states.iter().zip(&self.faults).any(|(state, fault)| state == fault) {
            return Some(Condition::default());
        }
        let is_drained = at.shapes.iter().all(Shape::is_empty);
        let mut alternatives =
            self.situations.iter().filter(|it| it.fits(at, is_drained)).flat_map(|it| &it.alternatives);
        alternatives.find(|it| it.admitted(zone.clone(), known).is_some()).cloned()
    }

    /// What conditions there are.
    pub(super) fn conditions(&self) -> impl Iterator<Item = &Condition> {
        self.situations.iter().flat_map(|it| &it.alternatives)
    }
}

impl BadSituation {
    fn fits(&self, at: &Skeleton, is_drained: bool) -> bool {
        self.kind.is_due(is_drained)
            && at.states.iter().zip(&self.states).all(|(state, states)| states.binary_search(state).is_ok())
    }
}

/// A condition on memory and registers, by variables.
pub(super) fn condition(layout: &Layout, condition: &Conjunction<StateVar>) -> Condition {
    let variable = |it: StateVar| match it {
        StateVar::Register(process, register) => layout.register(process, register),
        StateVar::Memory(x) => layout.location(x),
    };
    let guards = condition.differences.iter().map(|it| Guard {
        left: it.left.map_or(0, variable),
        right: it.right.map_or(0, variable),
        bound: Bound::at_most(it.bound),
    });
    let rows = condition.rows.iter().filter_map(|row| row_of(row, variable));
    let remainders = condition.remainders.iter().map(|it| it.of(variable));
    Condition { guards: guards.collect(), remainders: remainders.collect(), rows: rows.collect() }
}
