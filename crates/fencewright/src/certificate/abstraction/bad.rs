//! What is bad about a configuration.

use std::collections::BTreeSet;

use crate::certificate::Failure;
use crate::certificate::bad::is_known;
use crate::numeric::{Bound, Zone};
use crate::program::{Domain, Expr, Program, Situation, StateVar};

use super::configuration::{Configuration, Known, Layout};
use super::data::Data;
use super::evaluate::truth;

/// Whether a condition may hold in some state, or this cannot be told.
pub(in crate::certificate) fn may_hold(program: &Program, condition: &Expr<StateVar>) -> bool {
    let mut variables = BTreeSet::new();
    condition.for_each_var(&mut |it| variables.extend([*it]));
    let variables: Vec<StateVar> = variables.into_iter().collect();
    let mut data = Data::new(Zone::all(variables.len() + 1));
    for (number, variable) in (1..).zip(&variables) {
        let Some((lo, hi)) = domain(program, *variable).bounds() else { continue };
        let is_left = lo.checked_neg().is_none_or(|lo| data.add(0, number, Bound::at_most(lo)));
        if !(is_left && data.add(number, 0, Bound::at_most(hi))) {
            return false;
        }
    }
    let number = |it: &StateVar| variables.partition_point(|known| known < it) + 1;
    truth(condition, &data, &number).map_or(true, |cases| cases.iter().any(|case| case.1 == Some(true)))
}

fn domain(program: &Program, variable: StateVar) -> Domain {
    match variable {
        StateVar::Register(process, register) => program.processes()[process].registers[register].domain,
        StateVar::Memory(x) => program.locations()[x].domain,
    }
}

/// Looks for bad situations.
pub(super) struct Bad<'a> {
    pub(super) program: &'a Program,
    pub(super) layout: &'a Layout,
    pub(super) known: &'a Known,
}

impl Bad<'_> {
    /// Refuses a configuration that may be bad: one with a situation of which it is known who is in it.
    pub(super) fn check(&self, at: &Configuration) -> Result<(), Failure> {
        for property in self.program.properties() {
            let is_time = property.kind.is_due(at.key.shapes.iter().all(super::buffer::Shape::is_empty));
            let Known { threads, foreign } = self.known;
            let is_here = |it: &&Situation| is_time && is_known(property, it, threads, foreign);
            for situation in property.situations.iter().filter(is_here) {
                if self.may_hold(at, situation)? {
                    let line = self.program.source().line_name(property.span);
                    return Failure::refused(format!("with this abstraction the property of {line} may not hold"));
                }
            }
        }
        Ok(())
    }

    fn may_hold(&self, at: &Configuration, situation: &Situation) -> Result<bool, Failure> {
        // Where the others are is not known.
        let mut threads = self.known.threads.iter();
        let is_there = threads.all(|&process| situation.admits(process, at.key.controls[process].point()));
        if !is_there {
            return Ok(false);
        }
        let variable = |it: &StateVar| match it {
            StateVar::Register(process, register) => self.layout.register(*process, *register),
            StateVar::Memory(x) => self.layout.location(*x).expect("no known situation looks at what others write"),
        };
        // A condition without a value does not hold.
        Ok(truth(&situation.condition, &at.data, &variable)?.iter().any(|case| case.1 == Some(true)))
    }
}
