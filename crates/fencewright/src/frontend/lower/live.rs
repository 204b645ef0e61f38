//! Whether something leads to where we are, as far as the text shows: for warnings, and for functions that forget to
//! return a value.

use std::collections::BTreeSet;

use crate::source::Span;

use super::body::Body;

/// Notes about text that may have several copies.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Statements that follow a jump in some copy.
    pub dead: BTreeSet<Span>,
    /// Statements that do not, in some copy.
    pub live: BTreeSet<Span>,
}

/// Which sides of a condition something leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sides {
    pub yes: bool,
    pub no: bool,
}

/// Whether something in a loop leads out of it, or back to its head.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Loop {
    pub is_left: bool,
    pub is_continued: bool,
}

impl Sides {
    /// Both, or none.
    pub(super) fn both(is_live: bool) -> Self {
        Self { yes: is_live, no: is_live }
    }

    pub(super) fn swapped(self) -> Self {
        Self { yes: self.no, no: self.yes }
    }

    pub(super) fn any(self) -> bool {
        self.yes || self.no
    }
}

impl Body<'_, '_> {
    /// Lowers what is inside a loop; what leads out of it and back.
    pub(super) fn inside_loop<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> (T, Loop) {
        self.here().loops.push(Loop::default());
        let lowered = lower(self);
        let it = self.here().loops.pop().expect("what is pushed is popped");
        (lowered, it)
    }
}
