//! Properties: what no run may reach.

use crate::program::{Expr, LocationId, ProcessId, PropertyKind, PropertyWords};
use crate::source::Span;

use super::LocalId;

/// A variable that a property looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Observed {
    /// A register of a thread.
    Local(ProcessId, LocalId),
    /// A location of memory proper; without an end to look at, the property is an [`PropertyKind::Invariant`].
    Memory(LocationId),
}

/// A property: reaching any one of its situations is a violation.
#[derive(Clone, Debug)]
pub struct Property {
    /// When it is looked at.
    pub kind: PropertyKind,
    /// The threads that have ended when it is looked at, and the place that says so; for [`PropertyKind::Final`].
    pub ended: Vec<(ProcessId, Span)>,
    /// What is bad, each of these. Where it comes from the choice of a binder, the place is that of the binder.
    pub any_of: Vec<(Option<Span>, Claim)>,
    /// Where there were more choices than a property may have, if there were.
    pub left_out: Option<Span>,
    /// Its words: the condition.
    pub text: String,
    /// What else is said of it; `members` counts `any_of` instead of situations.
    pub words: PropertyWords,
    /// The place of these words.
    pub condition: Span,
    /// The place of the whole property.
    pub span: Span,
}

impl Property {
    /// `text` must not hold when these threads have ended.
    pub fn at_end_of(
        threads: impl IntoIterator<Item = ProcessId>,
        holds: Expr<Observed>,
        text: &str,
        span: Span,
    ) -> Self {
        Self {
            kind: PropertyKind::Final,
            ended: threads.into_iter().map(|thread| (thread, span)).collect(),
            any_of: vec![(None, Claim::Holds(holds))],
            left_out: None,
            text: text.to_owned(),
            words: PropertyWords { when: "at end".to_owned(), ..PropertyWords::default() },
            condition: span,
            span,
        }
    }
}

/// What is claimed of a situation.
#[derive(Clone, Debug)]
pub enum Claim {
    /// Never.
    Never,
    /// This holds.
    Holds(Expr<Observed>),
    /// A thread is at a label.
    At {
        /// Which thread.
        thread: ProcessId,
        /// The name of the label, which may have copies.
        label: String,
        /// Where the property says so.
        span: Span,
        /// Where the label is declared, to be named if it is never reached; without that, a thread that never reaches
        /// it is there when it has ended.
        declared: Option<Span>,
    },
    /// Both, at this place.
    And(Box<Self>, Box<Self>, Span),
    /// One of them.
    Or(Box<Self>, Box<Self>),
}
