//! A proof by looking at everything, with store buffers of which less is kept.
//!
//! The certificate says how many of the oldest stores of a buffer are kept in order (`k`), and how many states there
//! are then. Of the rest only the values are kept, and for each location the newest ([`waiting`]); so buffers that can
//! grow without end have finitely many contents, and where none ever holds more than `k`, nothing is lost. The checker
//! visits all states; to list them would save it nothing, since to see that a list is closed takes every step that
//! finds it.
//!
//! Why that is enough: memory behind such buffers ([`machine`]) can do whatever the machine of the model can. A buffer
//! here stands for each that may have led to it, a load finds the same in both, and one is empty if and only if the
//! other is. Everything else is as it was: the steps of the program are those of [`System`], less what no property can
//! tell apart ([`visit`](super::visit)).
//!
//! Kuperstein, Vechev, Yahav, _Partial-Coherence Abstractions for Relaxed Memory Models_, PLDI 2011, for the buffers.

mod machine;
mod waiting;

use crate::memory::Buffering;
use crate::program::{Placement, Program};
use crate::system::{Flow, System};

use super::Subject;
use super::exploration::Size;
use super::verify::{Failure, Steps};
use super::visit::Visit;
use crate::watch::Monitor;

use machine::Blurred;

/// Store buffers of which less is kept, and how many states there are then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// So many of the oldest stores are kept in order: of a buffer under TSO, to each location under PSO; and so many
    /// markers of store-store fences and one more.
    pub k: u32,
    /// The number of states.
    pub n_states: u64,
}

/// The number of states behind buffers of which this many stores are kept in order. None is bad.
///
/// # Errors
/// One is bad, or there are too many.
pub fn explore_blurred(
    program: &Program,
    placement: &Placement,
    buffering: Buffering,
    k: u32,
    monitor: &dyn Monitor,
) -> Result<u64, Failure> {
    visit(Flow { program, placement }, buffering, k, Size::UNKNOWN).run(&mut Steps::new(monitor))
}

/// Checks that there are so many states, and that none is bad.
pub(super) fn check(
    program: &Program,
    placement: &Placement,
    subject: &Subject,
    Buffers { k, n_states }: Buffers,
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    let size = Size::claimed(n_states);
    let found = visit(Flow { program, placement }, subject.buffering()?, k, size).run(steps)?;
    size.is(found)
}

fn visit(flow: Flow<'_>, buffering: Buffering, k: u32, size: Size) -> Visit<'_, Blurred> {
    Visit::new(System { flow, machine: Blurred { buffering, k: k as usize } }, size, |_| None)
}
