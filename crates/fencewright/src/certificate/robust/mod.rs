//! Robustness: the program behaves under the model as it does under sequential consistency.
//!
//! Executions are those of sequential consistency if no thread can be *attacked* by its own delay; to see that, all
//! states of sequential consistency are visited, each with an attack under way or none ([`visit`], by the rules of
//! [`attack`]), and the certificate says how many there are. Who is robust like that comes to no new place, either:
//! with all that waits let out, an execution that is one of sequential consistency is that of a run in which every
//! thread finds the same values.
//!
//! That a program comes to no new place though its executions are others is a question of safety: what sequential
//! consistency reaches is visited, and one read away from it is what must not be reached ([`state`]).

mod attack;
mod state;
mod visit;

use crate::memory::{Buffering, Dialect, Model};
use crate::program::{Placement, Program, Property, PropertyKind, PropertyWords};
use crate::source::Span;
use crate::watch::Monitor;

use super::exploration::Size;
use super::verify::{Failure, Steps};
use super::{Question, Subject};

pub(super) use state::asked;

/// The number of states with an attack under way or none. No attack succeeds.
///
/// # Errors
/// One does, or there are too many states.
pub fn explore_attacks(
    program: &Program,
    placement: &Placement,
    model: Model,
    dialect: Dialect,
    monitor: &dyn Monitor,
) -> Result<u64, Failure> {
    let buffering = model.buffering(dialect).ok_or_else(|| no_buffers(model))?;
    visit::run(&alone(program), placement, buffering, Size::UNKNOWN, &mut Steps::new(monitor))
}

/// Checks that there are so many states, and that no attack succeeds in any of them.
pub(super) fn check(
    program: &Program,
    placement: &Placement,
    subject: &Subject,
    n_states: u64,
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    match subject.question {
        Question::Robust | Question::RobustTrace => {}
        Question::Safety | Question::Hang(_) | Question::Race(_) => {
            return Failure::refused("that there is no attack says nothing of what is asked");
        }
    }
    let size = Size::claimed(n_states);
    let buffering = subject.model.buffering(subject.dialect()).ok_or_else(|| no_buffers(subject.model))?;
    visit::run(&alone(program), placement, buffering, size, steps).and_then(|found| size.is(found))
}

/// The program with nothing to violate but that its executions must be those of sequential consistency.
pub(super) fn asked_of_traces(program: &Program) -> Program {
    let (text, words) = (String::new(), PropertyWords::default());
    let property = Property { kind: PropertyKind::Trace, situations: Vec::new(), text, words, span: Span::default() };
    alone(program).with_properties([property])
}

/// The program without its own properties; where an assertion fails, nothing goes on.
fn alone(program: &Program) -> Program {
    program.with_properties([]).with_assumed(&|_| true)
}

fn no_buffers(model: Model) -> Failure {
    Failure::Refused(format!("{model} has no store buffers, so nothing is delayed there in this way"))
}

/// Whether stores wait at all.
const fn delays(buffering: Buffering) -> bool {
    match buffering {
        Buffering::None => false,
        Buffering::Fifo | Buffering::PerLocation(_) => true,
    }
}
