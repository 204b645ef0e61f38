//! What a litmus test says, before it is translated.

pub(super) use crate::frontend::asked::Quantifier;
use crate::frontend::ast::{Comment, Name};
use crate::program::BinaryOp;
use crate::source::Span;

/// A whole test.
#[derive(Debug, Default)]
pub(super) struct Test {
    /// Header lines and comments before the initial state, in order, as comments.
    pub(super) head: Vec<Comment>,
    pub(super) initial: Vec<Initial>,
    /// Comments in and behind the initial state.
    pub(super) comments: Vec<Comment>,
    pub(super) threads: Vec<Thread>,
    /// The rows of the table, below its heading.
    pub(super) lines: Vec<Line>,
    /// What is observed beside what the condition names.
    pub(super) locations: Vec<Place>,
    pub(super) property: Option<Property>,
    /// Comments behind the table.
    pub(super) end_comments: Vec<Comment>,
}

/// `x=1`, `0:EAX=1`, `0:RSI=x`, `int x`
#[derive(Debug)]
pub(super) struct Initial {
    pub(super) span: Span,
    pub(super) place: Place,
    /// None where something is only declared; then it is 0, unless another entry says more.
    pub(super) value: Option<InitialValue>,
}

/// What something holds at the start.
#[derive(Debug)]
pub(super) enum InitialValue {
    Number(i64),
    /// The address of a location.
    Address(Name),
}

/// A register of a thread, or a location.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Register(usize, Register),
    Location(Name),
}

/// A register of whatever width: one family counts as one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Register {
    /// Its number in [`registers`](super::registers).
    pub(super) family: usize,
    pub(super) span: Span,
}

/// A row of the table, with all its cells.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// Without its `;`.
    pub(super) cells: Vec<Span>,
    /// The `;`.
    pub(super) end: Span,
}

/// A column of the table.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// Its heading.
    pub(super) span: Span,
    pub(super) rows: Vec<Row>,
}

/// A cell of the table that is not empty.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) span: Span,
    pub(super) kind: RowKind,
    pub(super) comment: Option<Comment>,
}

/// What a cell holds.
#[derive(Debug)]
pub(super) enum RowKind {
    Label(Name),
    Instruction(Instruction),
}

/// An instruction, written here as in Intel syntax: the destination comes first.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    /// `MOV destination,source`
    Move(Operand, Operand),
    /// `ADD a,b`, `INC a`, …: a becomes `a op b`.
    Compute(Locked, BinaryOp, Operand, Operand),
    /// `XCHG a,b`
    Exchange(Operand, Operand),
    /// `XADD a,b`: a becomes a + b, and b the old a.
    ExchangeAdd(Locked, Operand, Operand),
    /// `CMPXCHG a,b`: if a is EAX, a becomes b; otherwise EAX becomes a.
    CompareExchange(Locked, Operand, Operand),
    /// `CMP a,b`
    Compare(Operand, Operand),
    /// `JE l`, …: jumps if the operands compared last compare so.
    JumpIf(BinaryOp, Name),
    Jump(Name),
    Mfence,
    Sfence,
    Lfence,
    Nop,
}

/// Whether an instruction has the prefix `LOCK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Locked {
    Yes,
    No,
}

/// What an instruction works on.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) span: Span,
    pub(super) kind: OperandKind,
}

/// Which.
#[derive(Clone, Debug)]
pub(super) enum OperandKind {
    Register(Register),
    Number(i64),
    /// `[x]`, `(x)`
    Location(Name),
    /// `[RSI]`, `(%rsi)`
    Pointed(Register),
}

/// The last line.
#[derive(Debug)]
pub(super) struct Property {
    pub(super) span: Span,
    pub(super) quantifier: Quantifier,
    pub(super) condition: Condition,
}

/// A condition on an outcome.
#[derive(Debug)]
pub(super) enum Condition {
    True(bool, Span),
    Is(Place, i64, Span),
    Not(Box<Self>, Span),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
}
