//! The tree of a C text behind the preprocessor.
//!
//! A place is one in the text that the user wrote: what a macro expands to stands where the macro is called, and is
//! marked, since an edit there would be one of the macro.

use fencewright::source::Span;

/// All that a file declares, and those that it includes, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unit {
    pub items: Vec<Item>,
    /// Comments that begin with `fencewright:`, without that word.
    pub remarks: Vec<Remark>,
    /// What a litmus test says besides.
    pub litmus: Option<crate::litmus::Litmus>,
}

/// `// fencewright: thread f(0)`
#[derive(Clone, Debug)]
pub(crate) struct Remark {
    pub text: String,
    pub span: Span,
}

/// What stands outside functions.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Function(Function),
    /// One for each name that is declared; one without a name where only a structure or an enumeration is.
    Declarations(Vec<Declaration>),
}

/// A function with its body.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub name: Name,
    pub returns: Type,
    pub parameters: Vec<Parameter>,
    pub body: Vec<Stmt>,
    /// Behind the closing brace.
    pub end: Span,
}

/// A parameter; without a name it cannot be used.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub name: Option<Name>,
    pub ty: Type,
    pub span: Span,
}

/// A name that is declared.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    /// None for a structure or an enumeration by itself.
    pub name: Option<Name>,
    pub ty: Type,
    pub storage: Storage,
    pub initial: Option<Initial>,
    pub span: Span,
}

/// How a name is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// As its place says.
    Plain,
    Typedef,
    Extern,
    Static,
    /// `_Thread_local`, `thread_local`, `__thread`, static or not.
    ThreadLocal,
}

/// A type as it is written.
#[derive(Clone, Debug)]
pub(crate) struct Type {
    pub kind: TypeKind,
    /// `_Atomic`, as a qualifier or with parentheses.
    pub is_atomic: bool,
    pub is_volatile: bool,
    pub is_const: bool,
    pub span: Span,
}

/// What a type is made of.
#[derive(Clone, Debug)]
pub(crate) enum TypeKind {
    Void,
    Bool,
    /// `char`, `short`, `int`, `long`, `long long`, with their signs; and the names of `stdint.h`.
    Integer {
        bits: u8,
        is_signed: bool,
    },
    /// `float`, `double`, `_Complex`: the words.
    Float(String),
    /// A name of the user's own `typedef`s.
    Named(Name),
    /// A type that a header of the system has: `pthread_t`, `pthread_mutex_t`, `memory_order`, `atomic_flag`, …
    Builtin(BuiltinType),
    /// `struct s { … }`, `struct s`; the fields where it is defined. A structure without a name has one made up, which
    /// is no C name.
    Struct {
        name: Name,
        fields: Option<Vec<Declaration>>,
    },
    /// The same for `union`.
    Union {
        name: Name,
        fields: Option<Vec<Declaration>>,
    },
    Enum {
        name: Option<Name>,
        values: Option<Vec<(Name, Option<Expr>)>>,
    },
    Pointer(Box<Type>),
    /// Without a length where none is written.
    Array(Box<Type>, Option<Box<Expr>>),
    Function {
        returns: Box<Type>,
        parameters: Vec<Parameter>,
        is_variadic: bool,
    },
    /// `typeof(e)`, `__typeof__(e)`
    TypeOf(Box<Expr>),
    /// `__auto_type`
    Auto,
}

/// Types of the system that are no integers, by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BuiltinType {
    /// `pthread_t`, `thrd_t`
    Thread,
    /// `pthread_mutex_t`, `mtx_t`, `spinlock_t`
    Mutex,
    /// `pthread_cond_t`, `cnd_t`
    Condition,
    /// `pthread_rwlock_t`
    RwLock,
    /// `pthread_barrier_t`
    Barrier,
    /// `pthread_attr_t`, `pthread_mutexattr_t` and others that are only passed on
    Attributes,
    /// `atomic_flag`
    AtomicFlag,
    /// `memory_order`
    MemoryOrder,
    /// `FILE`
    File,
    /// `va_list`
    VaList,
}

/// What a variable starts with.
#[derive(Clone, Debug)]
pub(crate) enum Initial {
    Expr(Expr),
    List(Vec<(Vec<Designator>, Initial)>, Span),
}

/// Which part is meant: `.f`, `[2]`.
#[derive(Clone, Debug)]
pub(crate) enum Designator {
    Field(Name),
    Index(Expr),
}

/// A name where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub text: String,
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
    /// Whether it begins or ends in the body of a macro, so that an edit beside it would be one of the macro.
    pub is_in_macro: bool,
}

/// What a statement says.
#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    Declarations(Vec<Declaration>),
    /// None for `;`.
    Expr(Option<Expr>),
    Block(Vec<Stmt>),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    While(Expr, Box<Stmt>),
    DoWhile(Box<Stmt>, Expr),
    /// The first part is a declaration, an expression or nothing.
    For {
        first: Option<Box<Stmt>>,
        condition: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
    },
    Switch(Expr, Box<Stmt>),
    Case(Expr, Box<Stmt>),
    Default(Box<Stmt>),
    Break,
    Continue,
    Return(Option<Expr>),
    Goto(Name),
    Label(Name, Box<Stmt>),
    /// `asm volatile("…" : … )`: the instructions, and whether memory is said to be clobbered.
    Asm {
        text: String,
        clobbers_memory: bool,
    },
}

/// An expression.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub kind: ExprKind,
    pub span: Span,
    /// Whether it begins or ends in the body of a macro, so that an edit beside it would be one of the macro.
    pub is_in_macro: bool,
}

/// What an expression says.
#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    /// Its value, and its type as the suffix and the size say; `true` and `false` are 1 and 0.
    Integer {
        value: u64,
        bits: u8,
        is_signed: bool,
    },
    /// `1.5`: the words.
    Float(String),
    /// Strings beside each other are one.
    String(String),
    Name(Name),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a = b`, `a += b`
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `++a`, `a--`
    Step {
        operand: Box<Expr>,
        is_increment: bool,
        is_prefix: bool,
    },
    Comma(Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Expr>),
    /// `a.f`
    Member(Box<Expr>, Name),
    /// `p->f`
    Arrow(Box<Expr>, Name),
    Index(Box<Expr>, Box<Expr>),
    Deref(Box<Expr>),
    AddressOf(Box<Expr>),
    Cast(Box<Type>, Box<Expr>),
    SizeOfType(Box<Type>),
    SizeOf(Box<Expr>),
    /// `(T){ … }`
    Compound(Box<Type>, Box<Initial>),
    /// `({ … })`
    Statements(Vec<Stmt>),
    /// A type where a function of the system takes one: `va_arg`, `offsetof`, `container_of`.
    Type(Box<Type>),
}

/// An operator before its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Plus,
    Minus,
    /// `!`
    Not,
    /// `~`
    Complement,
}

/// An operator between its operands; `&&` and `||` are no such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    BitAnd,
    BitXor,
    BitOr,
}
