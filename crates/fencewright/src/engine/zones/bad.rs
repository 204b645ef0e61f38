//! The bad configurations: named processes where the property says, others anywhere, all buffers empty.
//!
//! A bad configuration can drain its buffers and is still bad, so no others are needed.

use crate::engine::Unsupported;
use crate::engine::symbolic::difference::{Beyond, Conjunction};
use crate::engine::symbolic::flow::{ProcessFlow, StateId};
use crate::engine::symbolic::layout::Layout;
use crate::engine::symbolic::refusal::beyond_property;
use crate::engine::symbolic::situation::{conditions, fitting};
use crate::engine::zones::ASKER;
use crate::engine::zones::constraint::{Buffers, Constraint};
use crate::numeric::{Bound, Zone};
use crate::program::{ProcessId, Program, StateVar};
use crate::util::IndexVec;

/// More bad constraints than this are not worth it.
const MAX_BAD: usize = 20_000;

/// The bad constraints of a program.
pub(super) fn bad(
    program: &Program,
    flows: &IndexVec<ProcessId, ProcessFlow>,
    layout: &Layout,
) -> Result<Vec<Constraint>, Unsupported> {
    let mut maker = Maker { flows, layout, out: Vec::new() };
    for property in program.properties() {
        for situation in &property.situations {
            let alternatives = conditions(program, &situation.condition, ASKER.arithmetic);
            let alternatives = alternatives.map_err(|Beyond| beyond_property(ASKER, program, property))?;
            let states = flows.indices().map(|process| fitting(&flows[process], situation, process)).collect();
            maker.add(states, &alternatives)?;
        }
    }
    for (process, flow) in flows.iter_enumerated() {
        if !flow.incoming[flow.fault() as usize].is_empty() {
            let states = flows.iter_enumerated().map(|(other, it)| match other == process {
                true => vec![it.fault()],
                false => (0..it.fault()).collect(),
            });
            maker.add(states.collect(), &[Conjunction::default()])?;
        }
    }
    Ok(maker.out)
}

struct Maker<'a> {
    flows: &'a IndexVec<ProcessId, ProcessFlow>,
    layout: &'a Layout,
    out: Vec<Constraint>,
}

impl Maker<'_> {
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
        let mut bounds = condition.differences.iter();
        let is_possible = bounds.all(|it| zone.add(variable(it.left), variable(it.right), Bound::at_most(it.bound)));
        let mut remainders = condition.remainders.iter();
        let is_possible = is_possible
            && remainders.all(|it| zone.add_remainder(variable(Some(it.variable)), it.modulus, it.remainder));
        is_possible.then_some(zone)
    }
}
