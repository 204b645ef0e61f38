//! What is bad about a configuration.

use crate::certificate::Failure;
use crate::program::{Program, Situation, StateVar};

use super::configuration::{Configuration, Layout};
use super::evaluate::truth;

/// Looks for bad situations.
pub(super) struct Bad<'a> {
    pub(super) program: &'a Program,
    pub(super) layout: &'a Layout,
}

impl Bad<'_> {
    /// Refuses a configuration that may be bad.
    pub(super) fn check(&self, at: &Configuration) -> Result<(), Failure> {
        for property in self.program.properties() {
            let is_time = property.kind.is_due(at.key.shapes.iter().all(super::buffer::Shape::is_empty));
            for situation in property.situations.iter().filter(|_| is_time) {
                if self.may_hold(at, situation)? {
                    let line = self.program.source().line_name(property.span);
                    return Failure::refused(format!("with this abstraction the property of {line} may not hold"));
                }
            }
        }
        Ok(())
    }

    fn may_hold(&self, at: &Configuration, situation: &Situation) -> Result<bool, Failure> {
        let mut controls = at.key.controls.iter_enumerated();
        let is_there = controls.all(|(process, control)| situation.admits(process, control.point()));
        if !is_there {
            return Ok(false);
        }
        let variable = |it: &StateVar| match it {
            StateVar::Register(process, register) => self.layout.register(*process, *register),
            StateVar::Memory(x) => self.layout.location(*x),
        };
        // A condition without a value does not hold.
        Ok(truth(&situation.condition, &at.data, &variable)?.iter().any(|case| case.1 == Some(true)))
    }
}
