//! A proof for what C11 promises, by looking at everything: memory as under sequential consistency, with what each
//! thread may still read under RC11 beside it, has so many states, and none is bad.
//!
//! A thread that knows of the last write of a location in every sequential order, and to which an older write is open
//! under RC11, may do what sequential consistency does not: such reads are taken, such writes are refused. Then every
//! execution of RC11 comes to nothing but what is visited here; and where there are no such reads either, every
//! execution is one of sequential consistency. `docs/theory/rc11.md` has the rules and the argument.
//!
//! | file | idea |
//! |---|---|
//! | [`knowledge`] | what somebody knows |
//! | [`watched`] | memory, and what threads and messages know; what steps do to it |
//! | [`machine`] | that as a machine |
//! | [`uses`] | who accesses what, so that what nobody can tell is not kept |

mod knowledge;
mod machine;
mod uses;
mod watched;

use std::borrow::Cow;

use crate::memory::{Machine as _, Rc11};
use crate::program::{Placement, Program, Property, PropertyKind};
use crate::system::{Flow, System};
use crate::watch::Monitor;

use super::Question;
use super::exploration::Size;
use super::verify::{Failure, Steps};
use super::visit::Visit;

use machine::Views;
use watched::Watched;

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Nothing bad is in any execution, and no accesses to plain data race.
    Safe,
    /// No accesses to plain data race; what else goes wrong is not asked.
    RaceFree,
    /// Every execution is one of sequential consistency, and no accesses to plain data race.
    Robust,
}

/// The number of states, none of which is bad.
///
/// # Errors
/// One is bad, there are too many, or views say nothing of the program.
pub fn explore_views(
    (program, placement): (&Program, &Placement),
    language: Rc11,
    shows: Shows,
    monitor: &dyn Monitor,
) -> Result<u64, Failure> {
    visited(Flow { program, placement }, language, shows, Size::UNKNOWN, &mut Steps::new(monitor))
}

/// Checks that there are so many states, and that none is bad.
pub(super) fn check(
    flow: Flow<'_>,
    language: Rc11,
    shows: Shows,
    n_states: u64,
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    let size = Size::claimed(n_states);
    visited(flow, language, shows, size, steps).and_then(|found| size.is(found))
}

fn visited(flow: Flow<'_>, language: Rc11, shows: Shows, size: Size, steps: &mut Steps<'_>) -> Result<u64, Failure> {
    if let Some(why) = language.refuses(flow.program) {
        return Failure::refused(why);
    }
    let program = match shows {
        Shows::Safe => flow.program.with_allocations(),
        Shows::RaceFree => Cow::Owned(alone(&flow.program.with_allocations())),
        Shows::Robust => Cow::Owned(alone(flow.program)),
    };
    let flow = Flow { program: &program, ..flow };
    let machine = Views::new(flow, language.sequence, shows)?;
    Visit::new(System { flow, machine }, size, Watched::refused).run(steps)
}

/// The program without its own properties; where an assertion fails, nothing goes on.
fn alone(program: &Program) -> Program {
    program.with_properties([]).with_assumed(&|_| true)
}

/// The program with what a run is to show as a property: a race is one of those of safety.
pub(super) fn asked(program: &Program, question: &Question) -> Result<Program, Failure> {
    let race = || Property::of_execution(PropertyKind::Race, "race", "two accesses to plain data that nothing orders");
    match question {
        Question::Safety => {
            let own = program.properties().iter().cloned();
            Ok(program.with_allocations().with_properties(own.chain((!program.plain().is_empty()).then(race))))
        }
        Question::Race(_) => Ok(alone(&program.with_allocations()).with_properties([race()])),
        Question::RobustTrace => {
            let text = "an execution that sequential consistency does not have";
            Ok(alone(program).with_properties([Property::of_execution(PropertyKind::Trace, "robust=trace", text)]))
        }
        Question::Hang(_) | Question::Robust => {
            Failure::refused(format!("`{}` is not asked about what C11 promises", question.name()))
        }
    }
}

impl Shows {
    /// What a proof has to show for a question.
    ///
    /// # Errors
    /// It is not asked about a language.
    pub fn of(question: &Question) -> Result<Self, Failure> {
        match question {
            Question::Safety => Ok(Self::Safe),
            Question::Race(0) => Ok(Self::RaceFree),
            Question::RobustTrace => Ok(Self::Robust),
            Question::Race(_) => Failure::refused("races are among what the proof looks at, and have no states apart"),
            Question::Hang(_) | Question::Robust => {
                Failure::refused(format!("`{}` is not asked about what C11 promises", question.name()))
            }
        }
    }
}
