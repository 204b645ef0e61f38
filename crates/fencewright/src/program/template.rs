//! What processes and edges are copies of.
//!
//! A text says each thing once: a thread, of which a family has many members, and an operation, which also a loop that
//! is unrolled and a function that is inlined copy. A process is an instance of a [`Template`], an edge one of an
//! operation. What a programmer may write is beside an operation of the text, so fences by source come from here
//! ([`candidates`](super::candidates)), whatever number of instances a program has.

use crate::index_type;
use crate::program::{EdgeId, Process, ProcessId, Program};
use crate::source::Span;

index_type!(
    /// A thread of the text.
    pub TemplateId
);
index_type!(
    /// An operation of the text, counted over the whole program: one place of it, whoever's copy it is.
    pub OperationId
);

/// A thread of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Its name: `P`.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
}

impl Program {
    /// The name of the thread of the text that a process is an instance of: `P` for `P(0)`.
    pub fn family(&self, process: &Process) -> &str {
        &self.templates()[process.template].name
    }

    /// The processes that are instances of a thread of the text.
    pub fn instances(&self, template: TemplateId) -> impl Iterator<Item = ProcessId> + '_ {
        self.processes().iter_enumerated().filter(move |(_, it)| it.template == template).map(|(id, _)| id)
    }

    /// The edges that are copies of the same operation of the text as this one, itself among them.
    pub fn copies(&self, edge: EdgeId) -> impl Iterator<Item = EdgeId> + '_ {
        let operation = self.edges()[edge].operation;
        self.edges().iter_enumerated().filter(move |(_, it)| it.operation == operation).map(|(id, _)| id)
    }
}
