//! A thread while it is lowered: its registers, its variables, and the statements so far.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fencewright::frontend::hir::{
    Block, Effect, EffectKind, Expr, First, LabelId, Local, LocalId, Operand, Stmt, StmtKind, Thread,
};
use fencewright::program::TemplateId;
use fencewright::source::Span;

use crate::types::Qualified;

use super::memory::ObjectId;
use super::pools::Pools;
use super::value::Value;

/// A variable of a function, by its number in the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct VariableId(pub usize);

/// A variable of a function.
#[derive(Debug)]
pub(crate) struct Variable {
    pub name: String,
    pub ty: Rc<Qualified>,
    pub storage: Storage,
    /// Whether anything is assigned to it, or its address is taken.
    pub is_changed: bool,
    /// Where it is declared.
    pub span: Span,
    /// Whether anything was assigned to it.
    pub is_set: IsSet,
}

/// Whether a variable was assigned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IsSet {
    Known(bool),
    /// A register says so.
    Register(LocalId),
}

/// How a variable is kept.
#[derive(Clone, Debug)]
pub(crate) enum Storage {
    /// It is known what it holds.
    Known(Value),
    /// In a register.
    Register(LocalId),
    /// In memory.
    Object(ObjectId),
}

/// A function around the place where we are.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    pub function: String,
    /// Names, innermost last.
    pub scopes: Vec<BTreeMap<String, VariableId>>,
    /// Names that are assigned to or whose address is taken.
    pub changed: BTreeSet<String>,
    /// Where its value goes.
    pub result: Option<LocalId>,
    pub returns: Option<Rc<Qualified>>,
    /// Its labels.
    pub labels: BTreeMap<String, LabelId>,
    /// The loops and switches around the place, innermost last.
    pub loops: Vec<Around>,
    /// The labels that were made for it.
    pub made: Vec<LabelId>,
}

/// Where `break` and `continue` lead.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Around {
    /// A loop; `continue` goes to the label where it is not the beginning of it.
    Loop { next: Option<LabelId> },
    /// `break` goes to the label.
    Switch { end: LabelId },
    /// A body that is done once; `break` and `continue` go to the label behind it.
    Once { end: LabelId },
    /// A loop that is walked through with what is known; nothing leaves it.
    Copies,
}

/// A thread while it is lowered.
#[derive(Debug)]
pub(crate) struct State {
    pub thread: Thread,
    /// Blocks that are open, innermost last.
    pub blocks: Vec<Block>,
    pub variables: Vec<Variable>,
    pub frames: Vec<Frame>,
    /// Registers that get a value once.
    pub stable: BTreeSet<LocalId>,
    /// Whether it is known which way was taken to this place, so that variables are known as well.
    pub is_straight: bool,
    /// Whether no other thread is there yet.
    pub is_alone: bool,
    /// What comes before everything else.
    pub first: Block,
    /// What it has of the heap.
    pub pools: Pools,
}

impl State {
    pub(crate) fn new(name: &str, template: TemplateId, span: Span) -> Self {
        Self {
            thread: Thread::new(name, template, span),
            blocks: vec![Vec::new()],
            variables: Vec::new(),
            frames: Vec::new(),
            stable: BTreeSet::new(),
            is_straight: false,
            is_alone: false,
            first: Vec::new(),
            pools: Pools::default(),
        }
    }

    /// A register that holds 0 when the thread starts.
    pub(crate) fn zero_at_start(&mut self, name: &str, span: Span) -> LocalId {
        let local = self.thread.register(name, span);
        self.first.push(Stmt { span, kind: StmtKind::Let(local, First::Constant(0)) });
        local
    }

    /// Appends a statement.
    pub(crate) fn emit(&mut self, kind: StmtKind, span: Span) {
        self.blocks.last_mut().expect("a block is open").push(Stmt { span, kind });
    }

    /// A register that the text does not name; its value is inferred.
    pub(crate) fn temporary(&mut self, span: Span) -> LocalId {
        self.thread.locals.push(Local { name: None, is_boolean: false, domain: None, span })
    }

    /// Does something for its value, now.
    pub(crate) fn kept(&mut self, kind: EffectKind, span: Span) -> Expr {
        let local = self.temporary(span);
        self.stable.insert(local);
        self.emit(StmtKind::Let(local, First::Kept(Effect { span, kind })), span);
        Expr::Var(Operand::Local(local))
    }

    /// The value as it is now, whatever happens to the registers it is made of.
    pub(crate) fn settled(&mut self, expr: Expr, span: Span) -> Expr {
        if self.is_stable(&expr) {
            return expr;
        }
        let local = self.temporary(span);
        self.stable.insert(local);
        self.emit(StmtKind::Let(local, First::Value(expr)), span);
        Expr::Var(Operand::Local(local))
    }

    /// Whether nothing changes the value.
    pub(crate) fn is_stable(&self, expr: &Expr) -> bool {
        let mut is_stable = true;
        expr.for_each_var(&mut |it| {
            is_stable &= match it {
                Operand::Local(local) => self.stable.contains(local),
                Operand::Effect(_) => false,
            };
        });
        is_stable
    }

    pub(crate) fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a function is around")
    }

    /// A label of the function that is around.
    pub(crate) fn label(&mut self, name: &str) -> LabelId {
        let label = self.thread.labels.push(name.to_owned());
        self.frame().made.push(label);
        label
    }

    /// The variable of a name.
    pub(crate) fn variable(&mut self, name: &str) -> Option<VariableId> {
        self.frame().scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    /// Declares a variable.
    pub(crate) fn declare(&mut self, variable: Variable) -> VariableId {
        let id = VariableId(self.variables.len());
        let name = variable.name.clone();
        self.variables.push(variable);
        self.frame().scopes.last_mut().expect("a scope is open").insert(name, id);
        id
    }

    /// Where a name is declared in the innermost scope, if it is.
    pub(crate) fn declared_here(&self, name: &str) -> Option<Span> {
        let id = self.frames.last()?.scopes.last()?.get(name)?;
        Some(self.variables[id.0].span)
    }

    /// Statements apart from the others.
    pub(crate) fn open(&mut self) {
        self.blocks.push(Vec::new());
    }

    /// The statements since the block was opened.
    pub(crate) fn close(&mut self) -> Block {
        self.blocks.pop().expect("a block is open")
    }
}
