//! Which registers can still matter where a process is: the others need not be kept.

use std::collections::BTreeSet;

use crate::engine::symbolic::difference::Sum;
use crate::engine::symbolic::effect::Var;
use crate::engine::symbolic::flow::{Act, ProcessFlow, Step};
use crate::program::{ProcessId, Program, RegisterId, StateVar};
use crate::system::Control;

/// The registers whose value can still matter in each state.
pub(crate) fn live(program: &Program, process: ProcessId, flow: &ProcessFlow) -> Vec<BTreeSet<RegisterId>> {
    let mut live: Vec<BTreeSet<RegisterId>> = flow.controls.iter().map(|it| seen(program, process, *it)).collect();
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for step in &flow.steps {
            let used = used(step, &live[step.to as usize]);
            let n_before = live[step.from as usize].len();
            live[step.from as usize].extend(used);
            has_changed |= live[step.from as usize].len() > n_before;
        }
    }
    live
}

/// The registers that properties look at in a state.
fn seen(program: &Program, process: ProcessId, control: Option<Control>) -> BTreeSet<RegisterId> {
    let mut registers = BTreeSet::new();
    for situation in program.properties().iter().flat_map(|property| &property.situations) {
        let is_there = situation.admits(process, control.and_then(Control::point));
        situation.condition.for_each_var(&mut |it| match it {
            StateVar::Register(owner, register) if *owner == process && is_there => drop(registers.insert(*register)),
            StateVar::Register(..) | StateVar::Memory(_) => {}
        });
    }
    registers
}

/// The registers that a step uses if these are live after it.
fn used(step: &Step, live: &BTreeSet<RegisterId>) -> Vec<RegisterId> {
    let kept = live.iter().copied().filter(|register| !step.effect.registers.contains_key(register));
    let assigned = step.effect.registers.iter().filter(|(register, _)| live.contains(register)).map(|(_, sum)| *sum);
    let stored = match step.act {
        Act::Store(_, sum) => Some(sum),
        Act::Local | Act::Load(_) | Act::Fence(_) | Act::Atomic(_) => None,
    };
    let sums = assigned.chain(step.effect.memory.values().copied()).chain(stored);
    let guards = step.effect.when.differences.iter().flat_map(|it| [it.left, it.right]);
    let rows = step.effect.when.rows.iter().flat_map(|row| row.coefficients.iter().map(|it| it.0));
    let remainders = step.effect.when.remainders.iter().map(|it| it.variable);
    let variables = sums.map(|Sum { var, .. }| var).chain(guards).flatten().chain(rows).chain(remainders);
    let registers = variables.filter_map(|it| match it {
        Var::Register(register) => Some(register),
        Var::Memory(_) | Var::Loaded | Var::Picked(_) => None,
    });
    kept.chain(registers).collect()
}
