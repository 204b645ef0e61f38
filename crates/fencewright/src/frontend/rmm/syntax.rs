//! What a `.rmm` text says, before it is translated.
//!
//! Expressions are trees of the `.fw` language already, except that a register is still called `$r`, that `me` is a
//! name and `other k` a call.

use crate::frontend::ast::{Comment, Expr, Name, Trivia};
use crate::numeric::Range;
use crate::program::FenceKind;
use crate::source::Span;

/// A whole file.
#[derive(Debug, Default)]
pub(super) struct File {
    /// Comments before everything.
    pub(super) head: Vec<Comment>,
    /// The situations that are bad.
    pub(super) forbidden: Vec<Tuple>,
    pub(super) predicates: Vec<Predicate>,
    /// Locations that belong to no process, in the order that pointers count them.
    pub(super) data: Vec<Declaration>,
    pub(super) processes: Vec<Process>,
    /// Comments behind everything.
    pub(super) end_comments: Vec<Comment>,
}

/// One label for each process; `None` is `*`.
#[derive(Debug)]
pub(super) struct Tuple {
    pub(super) trivia: Trivia,
    pub(super) span: Span,
    pub(super) labels: Vec<Option<Name>>,
}

/// A hint for predicate abstraction.
#[derive(Debug)]
pub(super) struct Predicate {
    pub(super) trivia: Trivia,
    pub(super) span: Span,
    pub(super) condition: Expr,
}

/// A location or register.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) trivia: Trivia,
    pub(super) span: Span,
    /// With its `$` if it is a register.
    pub(super) name: Name,
    pub(super) initial: Initial,
    pub(super) domain: Range,
}

/// What something holds at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Initial {
    Number(i64),
    /// `*`
    Any,
}

/// `process(N)`
#[derive(Debug)]
pub(super) struct Process {
    pub(super) trivia: Trivia,
    /// The word `process`.
    pub(super) span: Span,
    /// How many copies there are.
    pub(super) count: usize,
    pub(super) data: Vec<Declaration>,
    pub(super) registers: Vec<Declaration>,
    pub(super) text: Vec<Stmt>,
}

/// A statement with its labels.
#[derive(Debug)]
pub(super) struct Stmt {
    pub(super) trivia: Trivia,
    pub(super) labels: Vec<Name>,
    pub(super) span: Span,
    pub(super) kind: StmtKind,
    /// A comment on how it is translated.
    pub(super) note: Option<&'static str>,
}

/// What a statement does.
#[derive(Debug)]
pub(super) enum StmtKind {
    /// `nop`, `llfence`
    Nop,
    /// `read: x = e`
    ReadIs(Place, Expr),
    /// `read: $r := x`
    ReadTo(Name, Place),
    Write(WriteKind, Place, Expr),
    Cas(Place, Expr, Expr),
    Fence(FenceKind),
    /// `slfence`
    StoreLoadFence,
    Assign(Name, Expr),
    Assume(Expr),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    While(Expr, Box<Stmt>),
    Goto(Name),
    Either(Vec<Sequence>),
    Locked(Vec<Sequence>),
    Block(Sequence),
}

/// Statements one after the other.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    pub(super) statements: Vec<Stmt>,
    /// Comments behind the last statement.
    pub(super) end_comments: Vec<Comment>,
}

/// How a store reaches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteKind {
    /// Through the store buffer.
    Plain,
    /// `locked write:`, at once.
    Locked,
    /// `syncwr:`, which other memory models have.
    Sync,
}

/// A location of memory.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) span: Span,
    pub(super) kind: PlaceKind,
}

/// Which location.
#[derive(Debug)]
pub(super) enum PlaceKind {
    /// `x`
    Global(Name),
    /// `x[my]`
    Mine(Name),
    /// `x[k]`
    Other(Name, i64),
    /// `[e]`
    Pointer(Expr),
}
