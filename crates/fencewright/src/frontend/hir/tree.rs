//! Threads, statements, conditions, expressions.

use crate::index_type;
use crate::program::{self, ArrayId, BinaryOp, Domain, FenceKind, LocationId, Misuse, Program, TemplateId, Value};
use crate::source::Span;
use crate::util::IndexVec;

use super::{FenceOrder, LoadOrder, StoreOrder, UpdateOrder};

index_type!(
    /// A register of a thread, counted within it.
    pub LocalId
);
index_type!(
    /// A label of a thread, counted within it; copies of a text have labels of their own.
    pub LabelId
);

index_type!(
    /// A place of the text where memory comes to be.
    pub AllocationId
);

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its name, with its arguments for a member of a family: `P(0)`.
    pub name: String,
    /// The thread of the text that it is an instance of.
    pub template: TemplateId,
    /// Its registers, and those of the functions it calls.
    pub locals: IndexVec<LocalId, Local>,
    /// The names of its labels.
    pub labels: IndexVec<LabelId, String>,
    /// What it does.
    pub body: Body,
    /// Where it is declared.
    pub span: Span,
}

impl Thread {
    /// A thread that does nothing yet.
    pub fn new(name: &str, template: TemplateId, span: Span) -> Self {
        let (locals, labels) = (IndexVec::new(), IndexVec::new());
        Self { name: name.to_owned(), template, locals, labels, body: Body::default(), span }
    }

    /// One more register, whose values are inferred.
    pub fn register(&mut self, name: &str, span: Span) -> LocalId {
        self.locals.push(Local { name: Some(name.to_owned()), is_boolean: false, domain: None, span })
    }
}

/// A register.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name; none for what the text does not name, which is left out if it is not needed.
    pub name: Option<String>,
    /// Whether it is a boolean.
    pub is_boolean: bool,
    /// The values it may hold; otherwise they are inferred.
    pub domain: Option<Domain>,
    /// Where it is declared.
    pub span: Span,
}

/// A text with labels of its own: a thread, a called function, a copy of a loop's body.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The labels that stand in it, those of bodies in it left out.
    pub labels: Vec<LabelId>,
    /// What it does.
    pub block: Block,
}

/// Statements, in order.
pub type Block = Vec<Stmt>;

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Where it stands.
    pub span: Span,
    /// What it does.
    pub kind: StmtKind,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Declares a register. Every register is declared once, before it is used.
    Let(LocalId, First),
    /// `r = e`
    Assign(LocalId, Expr),
    /// `x = e`
    Store(Place, StoreOrder, Expr),
    /// `x += e`: the place is found once, loaded at the span given, and stored to; what it held is combined with each
    /// of these, one after the other.
    Modify(Place, Span, Vec<(BinaryOp, Expr)>),
    /// An effect for its own sake.
    Do(Effect),
    /// `if (c) { … } else if (d) { … } else { … }`; the last part may be empty.
    If(Vec<(Condition, Block)>, Block),
    /// `while (c) { … }`
    While(Condition, Block),
    /// `do { … } while (c)`
    DoWhile(Block, Condition),
    /// `loop { … }`
    Loop(Block),
    /// The copies of a loop's body, one after the other; `continue` leads to the next of them, `break` behind the last.
    Copies(Vec<Body>),
    /// One of these.
    Choose(Vec<Block>),
    /// One step against memory: no loops, jumps, labels, fences, updates or atomic blocks in it.
    Atomic(Block),
    /// Statements that come together.
    Block(Block),
    /// Leaves the innermost loop of this function.
    Break,
    /// Goes on with the innermost loop of this function.
    Continue,
    /// Leaves a function, with the value if it has one, or ends the thread.
    Return(Option<Expr>),
    /// Goes on at a label of a body around this statement.
    Goto(LabelId),
    /// Where a label is.
    Label(LabelId),
    /// Waits until the condition holds.
    Assume(Condition),
    /// A violation unless the condition holds.
    Assert(Condition),
    /// The same for what the language asks of all programs.
    Check(Condition, Misuse),
    /// A fence of the machine.
    Fence(FenceKind),
    /// A fence of the language.
    OrderedFence(FenceOrder),
    /// Memory comes to be ([`Unit::allocate`](super::Unit::allocate)).
    Allocate(AllocationId),
    /// Nothing.
    Skip,
}

/// What a register holds when it is declared.
#[derive(Clone, Debug)]
pub enum First {
    /// What it held before; at first a value of its domain.
    Unset,
    /// This constant, from the start if the declaration is the first thing a thread does. In the domain, if it has one.
    Constant(Value),
    /// Any value of its domain, which is declared and finite; from the start if that is the first thing a thread does.
    Any,
    /// This value.
    Value(Expr),
    /// What comes of this effect: the register is another name for the one that holds it.
    Kept(Effect),
}

/// An expression: operators over registers and effects, which happen from left to right. Booleans are 0 and 1.
pub type Expr = program::Expr<Operand>;

/// What operators apply to.
#[derive(Clone, Debug)]
pub enum Operand {
    /// A register.
    Local(LocalId),
    /// The value that comes of doing something.
    Effect(Box<Effect>),
}

/// Something that is done for its value.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Where it stands.
    pub span: Span,
    /// What is done.
    pub kind: EffectKind,
}

impl From<Effect> for Expr {
    fn from(effect: Effect) -> Self {
        Self::Var(Operand::Effect(Box::new(effect)))
    }
}

/// What is done for its value.
#[derive(Clone, Debug)]
pub enum EffectKind {
    /// The value of a place in memory.
    Load(Place, LoadOrder),
    /// Any value from the first to the last, in a domain.
    Any(Domain, Value, Value),
    /// Changes a place in one step, and gives what it held.
    Update(Place, UpdateOrder, Update, Expr),
    /// What the place holds; if that is the old value, it gets the new one in the same step.
    CompareExchange {
        /// Where.
        place: Place,
        /// How it is ordered.
        order: UpdateOrder,
        /// What it is compared with.
        old: Expr,
        /// What it gets if it is the same.
        new: Expr,
    },
    /// One of two values.
    Select(Box<Select>),
    /// Calls a function that has a value.
    Call(Call),
    /// Whether a condition holds.
    Decide(Condition),
}

/// One of two values; the effects of the other do not happen.
#[derive(Clone, Debug)]
pub struct Select {
    /// Which.
    pub condition: Condition,
    /// The value if it holds.
    pub then: Expr,
    /// The value if it does not.
    pub otherwise: Expr,
    /// Whether they are booleans.
    pub is_boolean: bool,
}

/// What an update writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// The argument.
    Swap,
    /// The old value and the argument, combined.
    Fetch(BinaryOp),
    /// The same, of which the bits of a mask are kept.
    Wrapping(BinaryOp, Value),
}

/// A call, which is the statements of the function.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name of the function and the place of the call, for runs that go through it; none to say nothing of it.
    pub name: Option<(String, Span)>,
    /// Gives the parameters their values, and declares the result if it is not declared yet.
    pub arguments: Block,
    /// What it does.
    pub body: Body,
    /// Where its value goes, if it has one.
    pub result: Option<LocalId>,
}

/// A place in memory.
#[derive(Clone, Debug)]
pub enum Place {
    /// This location.
    Fixed(LocationId),
    /// The cell of an array that the index says; outside the array it is a violation.
    Cell(ArrayId, Expr),
}

/// A condition, which is decided by branches.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Where it stands.
    pub span: Span,
    /// What is asked.
    pub kind: ConditionKind,
}

/// What a condition asks.
#[derive(Clone, Debug)]
pub enum ConditionKind {
    /// One boolean expression; all its effects happen.
    Test(Expr),
    /// The opposite.
    Not(Box<Condition>),
    /// The second only if the first holds.
    And(Box<Condition>, Box<Condition>),
    /// The second only if the first does not hold.
    Or(Box<Condition>, Box<Condition>),
    /// Either way.
    Either,
    /// Whether what was loaded from a place was ever written there ([`Unit::unset`](super::Unit::unset)).
    IsSet(Expr, Place),
    /// Whether the place holds the old value; if so, it gets the new one in the same step.
    Cas {
        /// Where.
        place: Place,
        /// How it is ordered.
        order: UpdateOrder,
        /// What it holds if the condition does.
        old: Expr,
        /// What it gets then.
        new: Expr,
    },
}

/// The location of a place, or the first cell of its array.
pub(super) fn first_of(memory: &Program, place: &Place) -> LocationId {
    match place {
        Place::Fixed(location) => memory.array_of(*location).map_or(*location, |it| it.first),
        Place::Cell(array, _) => memory.arrays()[*array].first,
    }
}

/// The values that a place may hold.
pub(super) fn domain_of(memory: &Program, place: &Place) -> Domain {
    let location = match place {
        Place::Fixed(location) => *location,
        Place::Cell(array, _) => memory.arrays()[*array].first,
    };
    memory.locations()[location].domain
}

/// Whether a place is not atomic.
pub(super) fn is_plain(memory: &Program, place: &Place) -> bool {
    let location = match place {
        Place::Fixed(location) => *location,
        Place::Cell(array, _) => memory.arrays()[*array].first,
    };
    memory.plain().contains(&location)
}
