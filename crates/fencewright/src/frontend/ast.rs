//! The surface tree of the `.fw` language, the target of every front end.
//!
//! Names are not resolved and types not checked; each node knows its place in the text it came from. Comments hang on
//! the item or statement they stand before or behind, so that a printed tree loses none.

use crate::program::{BinaryOp, FenceKind, Order, UnaryOp};
use crate::source::Span;

/// A whole file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Declarations, in order.
    pub items: Vec<Item>,
    /// Comments behind the last item.
    pub end_comments: Vec<Comment>,
}

/// A comment, with its delimiters: `// …` or `/* … */`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The text, delimiters included, no newline at the end.
    pub text: String,
    /// Whether an empty line stands before it.
    pub blank_before: bool,
}

impl Comment {
    /// The text of a comment with nothing at the ends of its lines, so that a printed comment reads back the same.
    pub fn tidy(text: &str) -> String {
        let lines: Vec<&str> = text.split('\n').map(|line| line.trim_end_matches(['\r', ' ', '\t'])).collect();
        lines.join("\n")
    }
}

/// What stands around an item or statement and means nothing.
#[derive(Clone, Debug, Default)]
pub struct Trivia {
    /// Comments on lines of their own before it.
    pub before: Vec<Comment>,
    /// Whether an empty line separates it from what is before it (behind the last comment, if there are any).
    pub blank_before: bool,
    /// A comment on the same line behind it.
    pub after: Option<Comment>,
}

/// A name in the text.
#[derive(Clone, Debug)]
pub struct Name {
    /// The identifier.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A declaration.
#[derive(Clone, Debug)]
pub struct Item {
    /// Comments and blank lines around it.
    pub trivia: Trivia,
    /// Where it stands.
    pub span: Span,
    /// What it declares.
    pub kind: ItemKind,
}

/// What an item declares.
#[derive(Clone, Debug)]
pub enum ItemKind {
    /// `const N = 2;`
    Const(Const),
    /// `const SQUARES[3] = {0, 1, 4};`
    ConstArray(ConstArray),
    /// `enum State { Idle, Busy }`
    Enum(Enum),
    /// `shared x, flag[2]: 0..1 = 0;`
    Shared(Shared),
    /// `thread P(i: 0..1) { … }`
    Thread(Thread),
    /// `fn lock(shared l, i) { … }`
    Function(Function),
    /// `forbid P(0)@critical && P(1)@critical;`
    Forbid(Forbid),
    /// `forbid hang except S@waiting;`
    Hang(ForbidHang),
    /// `predicate x - y <= 1;`, a hint for predicate abstraction.
    Predicate(Expr),
    /// `include "lib.fw";`, with the path in its quotes. Reading a program puts what the file declares in its place.
    Include(Name),
}

/// A named constant; the command line can give it another value.
#[derive(Clone, Debug)]
pub struct Const {
    /// Its name.
    pub name: Name,
    /// Its value, a constant expression.
    pub value: Expr,
}

/// An array that nobody writes.
#[derive(Clone, Debug)]
pub struct ConstArray {
    /// Its name.
    pub name: Name,
    /// The number of cells in each dimension, at least one: constant expressions.
    pub sizes: Vec<Expr>,
    /// What each cell holds: constant expressions.
    pub values: Vec<Expr>,
    /// Where these stand.
    pub span: Span,
}

/// Names for the integers from 0 on, and a type that has them.
#[derive(Clone, Debug)]
pub struct Enum {
    /// The name of the type.
    pub name: Name,
    /// Its values, at least one.
    pub values: Vec<Name>,
}

/// Shared locations that have type and initial value in common.
#[derive(Clone, Debug)]
pub struct Shared {
    /// Whether they are `plain`: not atomic, so that a race on them is a violation.
    pub is_plain: bool,
    /// At least one.
    pub variables: Vec<SharedVariable>,
    /// The values they hold; absent means `int`.
    pub ty: Option<Type>,
    /// What they hold at the start; absent means 0 (or `false`).
    pub initial: Option<Initial>,
}

/// One name of a `shared` declaration.
#[derive(Clone, Debug)]
pub struct SharedVariable {
    /// Its name.
    pub name: Name,
    /// The number of cells in each dimension, for an array: constant expressions.
    pub sizes: Vec<Expr>,
}

/// Initial contents.
#[derive(Clone, Debug)]
pub enum Initial {
    /// The same for all cells: a constant expression, or `any`.
    All(Expr),
    /// `{a, b, …}`: one for each cell of an array.
    Each(Vec<Expr>, Span),
}

/// A type, which is a set of values.
#[derive(Clone, Debug)]
pub struct Type {
    /// Where it stands.
    pub span: Span,
    /// Which set.
    pub kind: TypeKind,
}

/// The sets of values.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `bool`
    Bool,
    /// `int`: all integers.
    Int,
    /// `lo..hi`, both included.
    Range(Box<Range>),
    /// The values of an `enum`.
    Named(Name),
}

/// `lo..hi`, both included; constant expressions.
#[derive(Clone, Debug)]
pub struct Range {
    /// The least value.
    pub lo: Expr,
    /// The greatest value.
    pub hi: Expr,
}

/// A thread, or a family of threads when it has parameters.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its name.
    pub name: Name,
    /// `i: 0..N-1`: one member for each combination of values.
    pub parameters: Vec<FamilyParameter>,
    /// `*`: any number of copies, without parameters; where it says so.
    pub any: Option<Span>,
    /// What it does.
    pub body: Block,
}

/// A parameter of a thread family: a constant within a member.
#[derive(Clone, Debug)]
pub struct FamilyParameter {
    /// Its name.
    pub name: Name,
    /// The values it takes, one member each.
    pub range: Range,
}

/// A function; calls are inlined.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// What it is given.
    pub parameters: Vec<Parameter>,
    /// What it does.
    pub body: Block,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub enum Parameter {
    /// `a` or `a: 0..3`: a register that starts with the argument's value.
    Value(Name, Option<Type>),
    /// `shared x`: another name for the shared variable (scalar, array or cell) given as argument.
    Shared(Name),
}

/// A property: no run may reach this.
#[derive(Clone, Debug)]
pub struct Forbid {
    /// `mutex:`, by which it is told from others.
    pub name: Option<Name>,
    /// The bad situation, over `P@label`, `P.register` and, at the end, shared variables.
    pub condition: Expr,
    /// Present for `at end`, `at end of P, Q`.
    pub at_end: Option<AtEnd>,
    /// `for i in 0..1, j in i+1..2`: any of these is bad.
    pub binders: Vec<Binder>,
}

/// No run may hang.
#[derive(Clone, Debug)]
pub struct ForbidHang {
    /// Threads that may wait for ever, and where.
    pub except: Vec<(Name, Name)>,
}

/// When a final condition is looked at: named threads have ended, and all buffers are empty.
#[derive(Clone, Debug)]
pub struct AtEnd {
    /// Where it stands.
    pub span: Span,
    /// The threads that must have ended; none named means all.
    pub of: Vec<ThreadRef>,
}

/// `i in lo..hi`
#[derive(Clone, Debug)]
pub struct Binder {
    /// The name, a constant in what it governs.
    pub name: Name,
    /// The values it takes.
    pub range: Range,
}

/// A thread, named: `P`, or a member of a family: `P(0)`.
#[derive(Clone, Debug)]
pub struct ThreadRef {
    /// The name of the thread or family.
    pub name: Name,
    /// Which member: constant expressions.
    pub arguments: Vec<Expr>,
    /// Where it stands.
    pub span: Span,
}

/// `{ … }`
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Where it stands, braces included.
    pub span: Span,
    /// A comment on the same line behind the opening brace.
    pub open_comment: Option<Comment>,
    /// Its statements, in order.
    pub statements: Vec<Stmt>,
    /// Comments before the closing brace.
    pub end_comments: Vec<Comment>,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Comments and blank lines around it.
    pub trivia: Trivia,
    /// Where it stands, semicolon included.
    pub span: Span,
    /// What it does.
    pub kind: StmtKind,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `let r: 0..3 = x;`
    Let(Let),
    /// `x[i] = e;`, `r += 1;`
    Assign(Assign),
    /// `cas(x, 0, 1);`, `f(2);`: a call for what it does.
    Call(Expr),
    /// `if (c) { … } else { … }`
    If(If),
    /// `while (c) { … }`
    While(Expr, Block),
    /// `do { … } while (c);`
    DoWhile(Block, Expr),
    /// `loop { … }`
    Loop(Block),
    /// `for k in 0..2 { … }`, unrolled: `k` is a constant in each copy.
    For(Binder, Block),
    /// `choose { … } or { … }`
    Choose(Vec<Block>),
    /// `atomic { … }`
    Atomic(Block),
    /// `{ … }`
    Block(Block),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return e;`: leaves a function; without a value, also ends a thread.
    Return(Option<Expr>),
    /// `goto l;`
    Goto(Name),
    /// `l:` names the control point before the next statement.
    Label(Name),
    /// `assume(e);`
    Assume(Expr),
    /// `assert(e);`, or `assert(e, "why");` with the message in its quotes.
    Assert(Expr, Option<Name>),
    /// `fence;`, `fence(store);`
    Fence(FenceKind),
    /// `fence(acquire);`: never plain or relaxed.
    OrderedFence(Order),
    /// `;`
    Skip,
}

/// `let r: type = value;`
#[derive(Clone, Debug)]
pub struct Let {
    /// The register, or the array of registers.
    pub name: Name,
    /// The number of cells in each dimension, for an array: constant expressions.
    pub sizes: Vec<Expr>,
    /// Its values; absent means inferred.
    pub ty: Option<Type>,
    /// Its first value, or that of each cell; absent means 0 (or `false`).
    pub value: Option<Expr>,
}

/// `target = value;`
#[derive(Clone, Debug)]
pub struct Assign {
    /// What changes: a name or an array cell.
    pub target: Target,
    /// `+=`, `<<=`, and so on: a load, then a store.
    pub op: Option<Compound>,
    /// The new value.
    pub value: Expr,
}

/// What an assignment combines the old value with the new one by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compound {
    /// `+=`, and so on.
    Binary(BinaryOp),
    /// `<<=`, `>>=`
    Shift(Shift),
}

/// A register, shared variable or array cell.
#[derive(Clone, Debug)]
pub struct Target {
    /// The variable.
    pub name: Name,
    /// Which cell, for an array: an index for each dimension.
    pub index: Vec<Expr>,
    /// Where it stands.
    pub span: Span,
}

/// `if (c) { … } else { … }`
#[derive(Clone, Debug)]
pub struct If {
    /// What is asked.
    pub condition: Expr,
    /// What is done if so.
    pub then: Block,
    /// What is done if not.
    pub otherwise: Option<Else>,
}

/// What follows `else`.
#[derive(Clone, Debug)]
pub enum Else {
    /// `else { … }`
    Block(Block),
    /// `else if … `; always a [`StmtKind::If`].
    If(Box<Stmt>),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Where it stands.
    pub span: Span,
    /// What it says.
    pub kind: ExprKind,
}

/// What an expression says.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `12`
    Int(i64),
    /// `0xff`, `0b101`: its value, and how it is written.
    Based(i64, String),
    /// `true`
    Bool(bool),
    /// `any`, of the type that is wanted; `any(0..2)`.
    Any(Option<Box<Range>>),
    /// A constant, register, shared variable or parameter.
    Name(Name),
    /// `a[i]`, `a[i][j]`: at least one index
    Index(Name, Vec<Expr>),
    /// `-e`, `!e`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`, `a && b`, …
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a << 2`, `a >> 2`: the number of bits is a constant.
    Shift(Shift, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Conditional(Box<Conditional>),
    /// `(e)`, kept so that formatting does not take away what helps a reader.
    Paren(Box<Expr>),
    /// `cas(x, 0, 1)`, `max(a, b)`, `f(2)`
    Call(Name, Vec<Expr>),
    /// `P(0)@critical`, in properties.
    At(ThreadRef, Name),
    /// `#P@critical`, in properties: how many members of a family are there.
    Count(ThreadRef, Name),
    /// `P(0).r`, in properties.
    Member(ThreadRef, Name, Vec<Expr>),
}

/// The direction of a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// `<<`: times a power of two.
    Left,
    /// `>>`: divided by a power of two, rounded down.
    Right,
}

impl Shift {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Left => "<<",
            Self::Right => ">>",
        }
    }
}

/// `c ? a : b`
#[derive(Clone, Debug)]
pub struct Conditional {
    /// What is asked.
    pub condition: Expr,
    /// The value if so.
    pub then: Expr,
    /// The value if not.
    pub otherwise: Expr,
}
