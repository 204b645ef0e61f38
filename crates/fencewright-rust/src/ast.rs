//! The tree of a Rust text: what lowering needs of it, with every place in the text.
//!
//! It is smaller than the grammar: parentheses and `unsafe` are gone, macros that are known are expressions of their
//! own, and lifetimes, bounds and visibility are left out, since the compiler has seen to them.

use std::rc::Rc;

use fencewright::source::Span;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub text: String,
    pub span: Span,
}

/// `a::b::<T>::c`
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub segments: Vec<Segment>,
    /// `<T>::c`, `<T as Trait>::c`
    pub of: Option<Box<Type>>,
    pub span: Span,
}

/// A part of a path.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub name: String,
    pub arguments: Vec<Type>,
}

impl Path {
    /// The last name.
    pub(crate) fn last(&self) -> &str {
        self.segments.last().map_or("", |it| &it.name)
    }

    /// The only name, if there is one.
    pub(crate) fn single(&self) -> Option<&str> {
        match &self.segments[..] {
            [only] if self.of.is_none() => Some(&only.name),
            _ => None,
        }
    }

    /// The name before the last.
    pub(crate) fn before_last(&self) -> Option<&Segment> {
        self.segments.len().checked_sub(2).map(|at| &self.segments[at])
    }

    /// As it is written, without arguments.
    pub(crate) fn text(&self) -> String {
        self.segments.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join("::")
    }
}

/// A type as it is written.
#[derive(Clone, Debug)]
pub(crate) struct Type {
    pub kind: TypeKind,
}

/// What a type is.
#[derive(Clone, Debug)]
pub(crate) enum TypeKind {
    Path(Path),
    /// `&T`, `&mut T`
    Reference(Box<Type>),
    /// `*const T`, `*mut T`
    Raw(Box<Type>),
    Array(Box<Type>, Box<Expr>),
    Slice(Box<Type>),
    Tuple(Vec<Type>),
    Never,
    /// `_`, `impl Trait`, `dyn Trait`, `fn()`: whatever the value is.
    Any,
}

/// An expression.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Integer(i128, Option<String>),
    Bool(bool),
    Text(String),
    /// A float, text as bytes: what is only handed on.
    Other,
    Path(Path),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Assign(Box<Expr>, Box<Expr>),
    AssignBy(Binary, Box<Expr>, Box<Expr>),
    /// `&e`, `&mut e`, `&raw const e`
    Reference(Box<Expr>),
    Field(Box<Expr>, Name),
    Index(Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Expr>),
    Method(Box<Method>),
    Cast(Box<Expr>, Type),
    Block(Option<String>, Block),
    If(Box<Expr>, Block, Option<Box<Expr>>),
    /// `let p = e` in a condition.
    Let(Box<Pat>, Box<Expr>),
    Match(Box<Expr>, Vec<Arm>),
    Loop(Option<String>, Block),
    While(Option<String>, Box<Expr>, Block),
    For(Option<String>, Box<Pat>, Box<Expr>, Block),
    Break(Option<String>, Option<Box<Expr>>),
    Continue(Option<String>),
    Return(Option<Box<Expr>>),
    Tuple(Vec<Expr>),
    Array(Vec<Expr>),
    Repeat(Box<Expr>, Box<Expr>),
    Struct(Path, Vec<(Name, Expr)>, Option<Box<Expr>>),
    Range(Option<Box<Expr>>, Option<Box<Expr>>, bool),
    Closure(Rc<Closure>),
    Try(Box<Expr>),
    Macro(Macro),
    /// What is not supported, and what to do instead: it is told if anything gets here.
    Refused(String, String),
}

/// `r.m::<T>(a)`
#[derive(Clone, Debug)]
pub(crate) struct Method {
    pub receiver: Expr,
    pub name: Name,
    pub arguments: Vec<Expr>,
}

/// A macro that is known.
#[derive(Clone, Debug)]
pub(crate) enum Macro {
    /// `assert!(c)`, `debug_assert!(c)`
    Assert(Box<Expr>),
    /// `assert_eq!(a, b)`, `assert_ne!(a, b)`: whether they must be the same.
    AssertSame(Box<Expr>, Box<Expr>, bool),
    /// `panic!()`, `unreachable!()`, `todo!()`
    Panic,
    /// `matches!(e, p if c)`
    Matches(Box<Expr>, Box<Pat>, Option<Box<Expr>>),
    /// `println!("{}", a)`: its arguments are looked at.
    Print(Vec<Expr>),
    /// `vec![a, b]`
    Vec(Vec<Expr>),
    /// `vec![a; n]`
    VecRepeat(Box<Expr>, Box<Expr>),
}

/// An operator before an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Deref,
    Not,
    Negative,
}

/// An operator between operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    BitXor,
    BitAnd,
    BitOr,
    Shl,
    Shr,
    Eq,
    Lt,
    Le,
    Ne,
    Ge,
    Gt,
}

/// `|a, b| e`
#[derive(Clone, Debug)]
pub(crate) struct Closure {
    pub parameters: Vec<Pat>,
    pub body: Expr,
    pub is_move: bool,
    pub span: Span,
}

/// An arm of a `match`.
#[derive(Clone, Debug)]
pub(crate) struct Arm {
    pub pat: Pat,
    pub guard: Option<Expr>,
    pub body: Expr,
}

/// A pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pat {
    pub kind: PatKind,
    pub span: Span,
}

/// What a pattern is.
#[derive(Clone, Debug)]
pub(crate) enum PatKind {
    Wild,
    /// `..`
    Rest,
    /// `x`, `mut x`, `ref x`, `x @ p`; a constant or a variant may be meant.
    Binding {
        name: Name,
        is_ref: bool,
        is_mut: bool,
        inner: Option<Box<Pat>>,
    },
    Literal(Box<Expr>),
    Range(Option<Box<Expr>>, Option<Box<Expr>>, bool),
    Path(Path),
    Tuple(Vec<Pat>),
    TupleStruct(Path, Vec<Pat>),
    Struct(Path, Vec<(Name, Pat)>),
    Reference(Box<Pat>),
    Or(Vec<Pat>),
    Typed(Box<Pat>, Box<Type>),
}

/// Statements, and the value behind them.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub statements: Vec<Stmt>,
    pub value: Option<Box<Expr>>,
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

/// What a statement is.
#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    /// `let p = e else { … };`
    Let(Pat, Option<Expr>, Option<Block>),
    Expr(Expr),
    /// An item; it is known in the whole file.
    Item,
}

/// A function.
#[derive(Debug)]
pub(crate) struct Function {
    pub name: Name,
    /// The names of its type parameters.
    pub generics: Vec<String>,
    pub parameters: Vec<(Pat, Option<Type>)>,
    pub returns: Option<Type>,
    /// None in a trait, where there is none.
    pub body: Option<Block>,
    pub span: Span,
    /// Whether it is `#[test]`, and whether it is meant to fail.
    pub is_test: bool,
    pub should_panic: bool,
    /// Whether a comment asks for it.
    pub is_marked: bool,
    pub module: Vec<String>,
    /// The module with what is declared in the function itself.
    pub scope: Vec<String>,
}

/// A structure, or a variant of an enumeration.
#[derive(Debug)]
pub(crate) struct Fields {
    pub name: Name,
    /// Names and types; those of tuples are numbers.
    pub fields: Vec<(String, Type)>,
    /// The number of a variant, where it is given.
    pub number: Option<Expr>,
}

/// Something that is declared.
#[derive(Debug)]
pub(crate) enum Item {
    Function(Rc<Function>),
    Struct {
        fields: Rc<Fields>,
        generics: Vec<String>,
        defaults: Vec<Option<Type>>,
        module: Vec<String>,
    },
    Enum {
        name: Name,
        generics: Vec<String>,
        variants: Vec<Rc<Fields>>,
        module: Vec<String>,
    },
    Impl(Impl),
    Trait {
        name: Name,
        functions: Vec<Rc<Function>>,
        constants: Vec<Rc<Constant>>,
    },
    /// `static`, which is one, or `const`, which is one wherever it is used.
    Static(Rc<Constant>),
    Constant(Rc<Constant>),
    Alias {
        name: Name,
        generics: Vec<String>,
        ty: Type,
        module: Vec<String>,
    },
    /// `use a::b as c`
    Use {
        name: String,
        path: Vec<String>,
        module: Vec<String>,
    },
    /// A macro of the text.
    Macro(Name),
}

/// `impl Trait for T { … }`
#[derive(Debug)]
pub(crate) struct Impl {
    pub ty: Type,
    pub of_trait: Option<Path>,
    pub generics: Vec<String>,
    pub functions: Vec<Rc<Function>>,
    pub constants: Vec<Rc<Constant>>,
    pub module: Vec<String>,
}

/// `const X: T = e;`
#[derive(Debug)]
pub(crate) struct Constant {
    pub name: Name,
    pub ty: Type,
    pub value: Option<Expr>,
    pub module: Vec<String>,
}
