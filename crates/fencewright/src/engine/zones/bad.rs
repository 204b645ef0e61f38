//! The bad configurations: named processes where the property says, others anywhere, all buffers empty.
//!
//! A bad configuration can drain its buffers and is still bad, so no others are needed.

use crate::engine::Unsupported;
use crate::engine::zones::constraint::{Buffers, Constraint};
use crate::engine::zones::difference::{Beyond, Conjunction, Differences};
use crate::engine::zones::flow::{ProcessFlow, StateId};
use crate::engine::zones::layout::Layout;
use crate::numeric::{Bound, Zone};
use crate::program::{ProcessId, Program, Property, Situation, StateVar};
use crate::system::Control;
use crate::util::IndexVec;

/// More bad constraints than this are not worth it.
const MAX_BAD: usize = 20_000;

/// The bad constraints of a program.
pub fn bad(
    program: &Program,
    flows: &IndexVec<ProcessId, ProcessFlow>,
    layout: &Layout,
) -> Result<Vec<Constraint>, Unsupported> {
    let mut maker = Maker { program, flows, layout, out: Vec::new() };
    for property in program.properties() {
        for situation in &property.situations {
            let alternatives = maker.conditions(situation).map_err(|Beyond| unsupported(program, property))?;
            let states = flows.indices().map(|process| maker.fitting(situation, process)).collect();
            maker.add(states, &alternatives)?;
        }
    }
    for (process, flow) in flows.iter_enumerated() {
        if !flow.incoming[flow.fault() as usize].is_empty() {
            let states = flows.iter_enumerated().map(|(other, it)| match other == process {
                true => vec![it.fault()],
                false => (0..it.fault()).collect(),
            });
            maker.add(states.collect(), &[Vec::new()])?;
        }
    }
    Ok(maker.out)
}

struct Maker<'a> {
    program: &'a Program,
    flows: &'a IndexVec<ProcessId, ProcessFlow>,
    layout: &'a Layout,
    out: Vec<Constraint>,
}

impl Maker<'_> {
    fn conditions(&self, situation: &Situation) -> Result<Vec<Conjunction<StateVar>>, Beyond> {
        let domain = |variable: StateVar| match variable {
            StateVar::Register(process, register) => {
                self.program.processes()[process].registers[register].domain.bounds()
            }
            StateVar::Memory(x) => self.program.locations()[x].domain.bounds(),
        };
        Differences { domain: &domain }.holds(&situation.condition, true)
    }

    /// The states of a process that fit a situation.
    fn fitting(&self, situation: &Situation, process: ProcessId) -> Vec<StateId> {
        let flow = &self.flows[process];
        let named = situation.at.iter().find(|at| at.0 == process).map(|at| &at.1);
        let fits = |&state: &StateId| match flow.controls[state as usize] {
            Some(Control::At(point)) => named.is_none_or(|points| points.contains(&point)),
            Some(Control::Ready(_) | Control::Done(_)) => named.is_none(),
            None => false,
        };
        (0..flow.fault()).filter(fits).collect()
    }

    /// Adds all combinations of states under each of some conditions.
    fn add(&mut self, states: Vec<Vec<StateId>>, conditions: &[Conjunction<StateVar>]) -> Result<(), Unsupported> {
        let n_combinations = states.iter().try_fold(conditions.len(), |n, it| n.checked_mul(it.len()));
        if n_combinations.is_none_or(|n| n + self.out.len() > MAX_BAD) {
            return Err(Unsupported {
                reason: "`zones` takes only programs whose threads have few combinations of places".to_owned(),
                help: "name the places of more threads in the property".to_owned(),
            });
        }
        let mut combinations = vec![Vec::new()];
        for options in states {
            let with = |chosen: &Vec<StateId>, state: StateId| [&chosen[..], &[state]].concat();
            let more = combinations.iter().flat_map(|chosen| options.iter().map(move |&it| with(chosen, it)));
            combinations = more.collect();
        }
        for condition in conditions {
            let Some(zone) = self.zone(condition) else { continue };
            self.out.extend(combinations.iter().map(|states| Constraint {
                states: states.clone().into(),
                buffers: vec![Buffers::default(); self.flows.len()].into(),
                zone: zone.clone(),
                depth: 0,
            }));
        }
        Ok(())
    }

    fn zone(&self, condition: &Conjunction<StateVar>) -> Option<Zone> {
        let variable = |it: Option<StateVar>| match it {
            None => 0,
            Some(StateVar::Register(process, register)) => self.layout.register(process, register),
            Some(StateVar::Memory(x)) => self.layout.location(x),
        };
        let mut zone = Zone::all(self.layout.n_base());
        let mut bounds = condition.iter();
        bounds.all(|it| zone.add(variable(it.left), variable(it.right), Bound::at_most(it.bound))).then_some(zone)
    }
}

fn unsupported(program: &Program, property: &Property) -> Unsupported {
    let at = program.source().position(property.span.start);
    let name = program.source().name();
    let reason = format!(
        "`zones` takes only conditions `x - y <= c`; `{}` at {name}:{}:{} is none",
        property.text, at.line, at.column
    );
    Unsupported { reason, help: "give the variables a small range such as `0..3`".to_owned() }
}
