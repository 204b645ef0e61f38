//! Properties: what no run may reach.

use crate::index_type;
use crate::program::{Expr, LocationId, PointId, ProcessId, RegisterId};
use crate::source::Span;

index_type!(
    /// A property.
    pub PropertyId
);

/// A variable in a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateVar {
    /// A register of a process.
    Register(ProcessId, RegisterId),
    /// A location of memory proper; what waits in a buffer is not there yet.
    Memory(LocationId),
}

/// A property: a set of bad situations; reaching any one of them is a violation.
#[derive(Clone, Debug)]
pub struct Property {
    /// When it is looked at.
    pub kind: PropertyKind,
    /// The bad situations.
    pub situations: Vec<Situation>,
    /// Its words: the condition.
    pub text: String,
    /// What else is said of it.
    pub words: PropertyWords,
    /// Where it stands.
    pub span: Span,
}

/// What is said of a property beside its condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PropertyWords {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// When it is looked at, in the words of the text: `at end of P, Q`; empty for always.
    pub when: String,
    /// What its condition ranges over, in the words of the text: `for i in 0..1`; empty for nothing.
    pub choices: String,
    /// For each choice, the first of its situations and its condition in words, with what was chosen. Ascending; empty
    /// if nothing is chosen.
    pub members: Vec<(usize, String)>,
}

/// A program says that none of its runs hangs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoHang {
    /// Threads that may wait for ever at a label: the name of the thread, or of its family, and the label.
    pub except: Vec<(String, String)>,
    /// Where it says so.
    pub span: Span,
}

/// When a property is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PropertyKind {
    /// In every configuration. It looks at no memory.
    Control,
    /// In every configuration, at memory proper too, whatever waits in buffers.
    Invariant,
    /// When the processes named by `at` of a situation have ended and **all** buffers are empty.
    Final,
    /// When every process has ended or is where it can wait for ever, and **all** buffers are empty: a hang.
    Hang,
    /// In every configuration: an access to plain data is about to happen that nothing orders behind another, or two at
    /// once.
    Race,
    /// In every configuration: one whose control and registers sequential consistency does not reach.
    Robust,
    /// In none: a *run* violates it, if its execution graph is none of sequential consistency.
    Trace,
}

/// One bad situation.
#[derive(Clone, Debug)]
pub struct Situation {
    /// These processes are at one of these points each; others may be anywhere. Ascending by process, at most one entry
    /// each, no entry empty. For a final property: the processes that have ended, with their end points. For a hang:
    /// all processes.
    pub at: Vec<(ProcessId, Vec<PointId>)>,
    /// And this holds.
    pub condition: Expr<StateVar>,
}

impl Property {
    /// A property of what has happened, under a model whose states tell that.
    pub fn of_execution(kind: PropertyKind, name: &str, text: &str) -> Self {
        Self {
            kind,
            situations: vec![Situation { at: Vec::new(), condition: Expr::TRUE }],
            text: text.to_owned(),
            words: PropertyWords { name: Some(name.to_owned()), ..PropertyWords::default() },
            span: Span::default(),
        }
    }

    /// What it says, name aside: of the choice that has a situation, or of all of them.
    pub fn says(&self, situation: Option<usize>) -> String {
        let PropertyWords { when, choices, members, .. } = &self.words;
        let member = situation.and_then(|it| members.iter().rev().find(|(first, _)| *first <= it));
        let parts = match member {
            Some((_, text)) => [text.as_str(), when, ""],
            None => [self.text.as_str(), when, choices],
        };
        let words = parts.iter().flat_map(|it| it.split_whitespace());
        words.collect::<Vec<_>>().join(" ")
    }
}

impl PropertyKind {
    /// Whether it is time to look, given whether nothing is under way in memory.
    pub const fn is_due(self, is_settled: bool) -> bool {
        match self {
            Self::Control | Self::Invariant | Self::Race | Self::Robust => true,
            Self::Final | Self::Hang => is_settled,
            Self::Trace => false,
        }
    }
}

impl Situation {
    /// Where a process must be, if it is named.
    pub fn points_of(&self, process: ProcessId) -> Option<&[PointId]> {
        self.at.iter().find(|(named, _)| *named == process).map(|(_, points)| &points[..])
    }

    /// Whether a process may be here; between two points it may be only if it is not named.
    pub fn admits(&self, process: ProcessId, point: Option<PointId>) -> bool {
        self.points_of(process).is_none_or(|points| point.is_some_and(|point| points.contains(&point)))
    }
}
