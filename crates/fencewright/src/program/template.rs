//! What processes and edges are copies of.
//!
//! A text says each thing once: a thread, of which a family has many members, and an operation, which also a loop that
//! is unrolled and a function that is inlined copy. A process is an instance of a [`Template`], an edge one of an
//! operation. What a programmer may write is beside an operation of the text, so fences by source come from here
//! ([`candidates`](super::candidates)), whatever number of instances a program has.

use crate::index_type;
use crate::program::{EdgeId, Process, ProcessId, Program};
use crate::source::Span;
use crate::util::Memo;

index_type!(
    /// A thread of the text.
    pub TemplateId
);
index_type!(
    /// An operation of the text, counted over the whole program: one place of it, whoever's copy it is.
    pub OperationId
);

/// Fewer instances of a thread are told apart, whatever they do.
const MANY_INSTANCES: usize = 3;

/// A thread of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Its name: `P`.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// How many instances it has.
    pub copies: Copies,
}

/// How many instances a thread of the text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// Those that the program lists.
    Listed,
    /// Any number, one at least, all alike. The program lists as many as its properties name at once.
    Any,
}

impl Template {
    /// A thread with the instances that the program lists.
    pub fn listed(name: impl Into<String>, span: Span) -> Self {
        Self { name: name.into(), span, copies: Copies::Listed }
    }
}

impl Program {
    /// Whether the number of its threads is left open. Only [instances](Program::instance) of such a program have runs.
    pub fn is_open(&self) -> bool {
        self.templates().iter().any(|it| it.copies == Copies::Any) || self.indexed().is_some()
    }

    /// The same program with any number of copies of each thread of the text that has many instances. Whether these are
    /// alike is for others to see.
    #[must_use]
    pub(crate) fn opened(&self) -> Self {
        let is_many = |id| self.instances(id).count() >= MANY_INSTANCES;
        let templates = self.templates.iter_enumerated().map(|(id, it)| match is_many(id) {
            true => Template { copies: Copies::Any, ..it.clone() },
            false => it.clone(),
        });
        Self { templates: templates.collect(), memo: Memo::default(), ..self.clone() }
    }

    /// The threads of the text of which there is any number of copies.
    pub fn open_templates(&self) -> impl Iterator<Item = TemplateId> + '_ {
        self.templates().iter_enumerated().filter(|(_, it)| it.copies == Copies::Any).map(|(id, _)| id)
    }

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
