//! Memory that comes to be while threads run, as what `malloc` gives.
//!
//! It holds what it holds from the start: nothing is written, and no store buffer sees it. But whoever uses it must
//! come after it, and what comes after what is a question of races; so for these it is a write of plain data.
//!
//! ```text
//!   p = malloc(sizeof(int));        r = load(p, relaxed);
//!                                   *r = 1;               // nothing orders it behind malloc
//! ```

use std::borrow::Cow;

use crate::program::{Edge, Expr, Initial, LocationId, Op, Program};
use crate::util::Memo;

impl Program {
    /// The same program for questions about races: plain memory is written where it comes to be. Ids stay.
    #[must_use]
    pub fn with_allocations(&self) -> Cow<'_, Self> {
        let written = self.edges.iter().map(|edge| self.as_write(edge));
        if written.clone().all(|it| it.is_none()) {
            return Cow::Borrowed(self);
        }
        let edges = self.edges.iter().zip(written).map(|(edge, op)| match op {
            Some(op) => Edge { op, ..edge.clone() },
            None => edge.clone(),
        });
        Cow::Owned(Self { edges: edges.collect(), memo: Memo::default(), ..self.clone() })
    }

    /// The write that stands for an allocation which others could race with.
    fn as_write(&self, edge: &Edge) -> Option<Op> {
        let place = edge.allocates.as_ref().filter(|place| edge.op.is_local() && self.is_plain(place))?;
        let locations = self.locations_of(place);
        let Initial::Value(value) = self.locations[*locations.first()?].initial else { return None };
        let is_shared = locations.iter().any(|&x| self.is_used_beside(edge, x));
        is_shared.then(|| Op::Store(place.clone(), Expr::Const(value)))
    }

    /// Whether another thread, or another copy of the same, uses a location.
    fn is_used_beside(&self, edge: &Edge, x: LocationId) -> bool {
        let uses = |other: &Edge| self.may_read(&other.op, x) || self.may_write(&other.op, x);
        self.edges.iter().any(|other| other.process != edge.process && uses(other))
    }
}
