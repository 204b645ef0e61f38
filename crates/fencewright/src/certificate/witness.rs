//! A bad run as it is shown. Where a program leaves open how many threads there are, it is one of an instance.

use crate::memory::{Dialect, Model};
use crate::program::{CopyCounts, Indexed, Placement, Program, TemplateId};
use crate::system::{Trace, replay};
use crate::util::Idx;

use super::verify::Failure;

/// A run, and how many copies there are of threads whose number is left open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Of each thread whose number is left open.
    pub copies: CopyCounts,
    /// The run.
    pub trace: Trace,
}

/// Instances with more copies are not made.
const MAX_COPIES: usize = 1_000;

impl Witness {
    /// Replays the run by the definition of the model.
    pub(super) fn check(
        &self,
        program: &Program,
        placement: &Placement,
        (model, dialect): (Model, Dialect),
    ) -> Result<(), Failure> {
        if let Some(indexed) = program.indexed() {
            return self.check_indexed((program, placement), indexed, (model, dialect));
        }
        let wrong = |template: &&TemplateId| {
            template.index() >= program.templates().len() || !program.open_templates().any(|it| it == **template)
        };
        if let Some(template) = self.copies.keys().find(wrong) {
            let template = template.index();
            return Failure::refused(format!("it counts copies of thread {template}, whose number is not left open"));
        }
        if self.copies.values().any(|&n| n > MAX_COPIES) {
            return Failure::refused(format!("the run has more than {MAX_COPIES} copies of a thread"));
        }
        let replayed = if program.is_open() {
            let instance = program.instance(&self.copies);
            replay(&instance.program, &instance.placement(placement), model, dialect, &self.trace)
        } else {
            replay(program, placement, model, dialect, &self.trace)
        };
        replayed.map(drop).map_err(|error| Failure::Refused(error.to_string()))
    }

    /// Replays a run of some number of threads with an index.
    fn check_indexed(
        &self,
        (program, placement): (&Program, &Placement),
        indexed: &Indexed,
        (model, dialect): (Model, Dialect),
    ) -> Result<(), Failure> {
        let texts = std::iter::once(program).chain(&indexed.instances);
        let mut instances = texts.filter_map(|it| it.instance_of(program, &indexed.families));
        let Some(instance) = instances.find(|it| it.copies == self.copies) else {
            return Failure::refused("there is no instance of the program with so many threads");
        };
        let Some(laid) = program.placement_over(placement, &instance.program) else {
            return Failure::refused("fences differ from thread to thread, of which there is any number");
        };
        let replayed = replay(&instance.program, &laid, model, dialect, &self.trace);
        replayed.map(drop).map_err(|error| Failure::Refused(error.to_string()))
    }
}
