//! A thread while it is lowered: its registers, its variables, and the statements so far.

use std::collections::{BTreeMap, BTreeSet};

use fencewright::frontend::hir::{
    Block, Condition, ConditionKind, Effect, EffectKind, Expr, First, LabelId, Local, LocalId, Operand, Stmt, StmtKind,
    Thread,
};
use fencewright::program::TemplateId;
use fencewright::source::Span;

use crate::value::{Generics, ObjectId, Value, VariableId};

/// A variable of a function.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub name: String,
    pub storage: Storage,
    pub is_mut: bool,
    /// Whether what it holds is still there.
    pub is_live: Live,
    /// Fields that were moved away.
    pub moved: BTreeSet<Vec<usize>>,
    /// Whether it belongs to a function around a closure that does not take it.
    pub is_borrowed: bool,
    /// How many branches and loops it is in.
    pub depth: usize,
    /// Where it is declared.
    pub span: Span,
}

/// How a variable is kept.
#[derive(Clone, Debug)]
pub(super) enum Storage {
    /// As a tree with registers.
    Value(Value),
    /// In memory.
    Object(ObjectId),
}

/// Whether a variable holds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Live {
    Yes,
    No,
    /// As a register says.
    Flag(LocalId),
}

/// Names that end together.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub names: BTreeMap<String, VariableId>,
    /// What is dropped at its end, the last first.
    pub owned: Vec<VariableId>,
}

/// A value where several ways meet.
#[derive(Clone, Debug)]
pub(super) struct Join {
    /// The construct whose value it is.
    pub span: Span,
    pub value: Option<Value>,
}

/// A loop or a block that can be left.
#[derive(Debug)]
pub(super) struct Around {
    pub label: Option<String>,
    /// Whether `break` and `continue` without a label mean it.
    pub is_loop: bool,
    /// How many scopes there were before it.
    pub n_scopes: usize,
    /// Where `break` from inside another loop goes.
    pub behind: Option<LabelId>,
    /// Where `continue` from inside another loop goes.
    pub next: Option<LabelId>,
    pub join: Join,
    pub is_left: bool,
}

/// A function around the place where we are.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub function: String,
    pub scopes: Vec<Scope>,
    pub around: Vec<Around>,
    pub generics: Generics,
    pub module: Vec<String>,
    /// What it returns so far; none if nothing leaves it early.
    pub returned: Option<Join>,
    pub is_left: bool,
}

/// A thread while it is lowered.
#[derive(Debug)]
pub(super) struct State {
    pub thread: Thread,
    /// Blocks that are open, innermost last.
    pub blocks: Vec<Block>,
    pub variables: Vec<Variable>,
    pub frames: Vec<Frame>,
    /// Registers that get a value once.
    pub stable: BTreeSet<LocalId>,
    /// Registers that are declared before anything else.
    pub hoisted: BTreeSet<LocalId>,
    /// How many branches and loops are around the place.
    pub depth: usize,
    /// How many loops are around it.
    pub n_loops: usize,
    /// Whether no other thread is there yet.
    pub is_alone: bool,
    pub is_main: bool,
    /// Its number among those that are created.
    pub number: Option<usize>,
    /// The labels of the body that is lowered.
    pub labels: Vec<Vec<LabelId>>,
}

impl State {
    pub(super) fn new(name: &str, template: TemplateId, span: Span) -> Self {
        Self {
            thread: Thread::new(name, template, span),
            blocks: vec![Vec::new()],
            variables: Vec::new(),
            frames: Vec::new(),
            stable: BTreeSet::new(),
            hoisted: BTreeSet::new(),
            depth: 0,
            n_loops: 0,
            is_alone: false,
            is_main: false,
            number: None,
            labels: vec![Vec::new()],
        }
    }

    pub(super) fn emit(&mut self, kind: StmtKind, span: Span) {
        self.blocks.last_mut().expect("a block is open").push(Stmt { span, kind });
    }

    /// A register without a name.
    pub(super) fn temporary(&mut self, span: Span) -> LocalId {
        self.thread.locals.push(Local { name: None, is_boolean: false, domain: None, span })
    }

    /// A register that may be assigned to anywhere.
    pub(super) fn hoisted(&mut self, name: Option<&str>, is_boolean: bool, span: Span) -> LocalId {
        let name = name.map(str::to_owned);
        let local = self.thread.locals.push(Local { name, is_boolean, domain: None, span });
        self.hoisted.insert(local);
        local
    }

    /// What comes of an effect.
    pub(super) fn kept(&mut self, kind: EffectKind, span: Span) -> Expr {
        let local = self.temporary(span);
        self.stable.insert(local);
        self.emit(StmtKind::Let(local, First::Kept(Effect { span, kind })), span);
        Expr::Var(Operand::Local(local))
    }

    /// The value as it is now, whatever happens to the registers it is made of.
    pub(super) fn settled(&mut self, expr: Expr, span: Span) -> Expr {
        let at = self.mark();
        self.settled_at(expr, at, span)
    }

    /// The value as it was before the statements behind a mark.
    pub(super) fn settled_at(&mut self, expr: Expr, mark: usize, span: Span) -> Expr {
        if self.is_stable(&expr) {
            return expr;
        }
        let local = self.temporary(span);
        self.stable.insert(local);
        let stmt = Stmt { span, kind: StmtKind::Let(local, First::Value(expr)) };
        self.blocks.last_mut().expect("a block is open").insert(mark, stmt);
        Expr::Var(Operand::Local(local))
    }

    /// How many statements there are so far.
    pub(super) fn mark(&self) -> usize {
        self.blocks.last().map_or(0, Vec::len)
    }

    /// Whether nothing changes the value.
    pub(super) fn is_stable(&self, expr: &Expr) -> bool {
        let mut is_stable = true;
        expr.for_each_var(&mut |it| {
            is_stable &= match it {
                Operand::Local(local) => self.stable.contains(local),
                Operand::Effect(_) => false,
            };
        });
        is_stable
    }

    pub(super) fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a function is around")
    }

    /// A label of the body that is around.
    pub(super) fn label(&mut self, name: &str) -> LabelId {
        let label = self.thread.labels.push(name.to_owned());
        self.labels.last_mut().expect("a body is open").push(label);
        label
    }

    /// The variable of a name.
    pub(super) fn variable(&self, name: &str) -> Option<VariableId> {
        let frame = self.frames.last()?;
        frame.scopes.iter().rev().find_map(|scope| scope.names.get(name)).copied()
    }

    /// Statements apart from the others.
    pub(super) fn open(&mut self) {
        self.blocks.push(Vec::new());
    }

    /// The statements since the block was opened.
    pub(super) fn close(&mut self) -> Block {
        self.blocks.pop().expect("a block is open")
    }

    /// Whether anything was done.
    pub(super) fn has_done_something(&self) -> bool {
        self.blocks.iter().any(|block| !block.is_empty())
    }
}

/// A condition that is one expression.
pub(super) fn test(expr: Expr, span: Span) -> Condition {
    Condition { span, kind: ConditionKind::Test(expr) }
}

/// The expression of a register.
pub(super) fn register(local: LocalId) -> Expr {
    Expr::Var(Operand::Local(local))
}
