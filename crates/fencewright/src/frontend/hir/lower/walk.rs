//! A thread while it is lowered: where we are, and its automaton so far.
//!
//! Lowering walks the tree with a cursor, the control point reached so far. A statement puts arcs behind it and moves
//! it on. Behind a jump the cursor is a node that nothing leads to; what is lowered there is dropped at the end.

use crate::frontend::said::Said;
use crate::program::{Copies, Domain, Expr, Op, Order, Program, RegisterId};
use crate::source::Span;
use crate::util::IndexVec;

use super::cfg::{Cfg, Node, Slot};
use super::unset::{Unset, Unsets};
use super::{Allocations, Memory};
use crate::frontend::hir::{Body, LabelId, LocalId, Place, Thread, tree};

/// A loop around the cursor.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    /// Where `break` leads.
    pub exit: Node,
    /// Where `continue` leads.
    pub next: Node,
}

/// A function, or the thread itself, around the cursor.
#[derive(Debug)]
pub(super) struct Activation {
    /// Where `return` leads.
    pub exit: Node,
    /// Where the value goes, if the function has one.
    pub result: Option<LocalId>,
    pub loops: Vec<Loop>,
}

/// A thread while it is lowered.
pub(super) struct Walk<'w> {
    pub said: &'w mut Said,
    /// What memory there is.
    pub memory: &'w Program,
    pub thread: &'w Thread,
    /// What stands for memory that was never written.
    pub unsets: &'w Unsets,
    pub allocations: &'w Allocations,
    pub cfg: Cfg,
    pub cursor: Node,
    /// The registers declared so far.
    pub registers: IndexVec<LocalId, Option<RegisterId>>,
    /// The labels of the bodies entered so far.
    pub labels: IndexVec<LabelId, Option<Node>>,
    /// The thread and the functions around the cursor, innermost last; never empty.
    pub stack: Vec<Activation>,
    /// How many loops are around the cursor, in all activations.
    pub n_loops: usize,
    /// Whether the cursor is inside an atomic block.
    pub is_atomic: bool,
}

impl<'w> Walk<'w> {
    /// The automaton of a thread.
    pub(super) fn lower(said: &'w mut Said, memory: Memory<'w>, thread: &'w Thread) -> Cfg {
        let mut cfg = Cfg::new();
        cfg.has_any_number = memory.program.templates()[thread.template].copies == Copies::Any;
        let (cursor, end) = (cfg.entry, cfg.node());
        let mut walk = Self {
            said,
            memory: memory.program,
            thread,
            unsets: memory.unsets,
            allocations: memory.allocations,
            cfg,
            cursor,
            registers: IndexVec::filled(thread.locals.len(), None),
            labels: IndexVec::filled(thread.labels.len(), None),
            stack: vec![Activation { exit: end, result: None, loops: Vec::new() }],
            n_loops: 0,
            is_atomic: false,
        };
        walk.body(&thread.body);
        // A label at the very end names the end itself, unless the end is also reached past it.
        if walk.cfg.is_reached(end) {
            walk.join(end);
        } else {
            walk.cfg.unite(walk.cursor, end);
        }
        walk.cfg.end = Some(end);
        walk.cfg.locals = walk.registers;
        walk.cfg
    }

    /// The innermost activation.
    pub(super) fn here(&mut self) -> &mut Activation {
        self.stack.last_mut().expect("the thread itself is always there")
    }

    /// What stands for a place that was never written.
    pub(super) fn unset_of(&self, place: &Place) -> Option<Unset> {
        self.unsets.get(&tree::first_of(self.memory, place)).copied()
    }

    /// A text with labels of its own.
    pub(super) fn body(&mut self, body: &Body) {
        for &label in &body.labels {
            let node = self.cfg.node();
            self.cfg.label(node, &self.thread.labels[label]);
            self.labels[label] = Some(node);
        }
        self.block(&body.block);
    }

    /// Appends an operation and moves on behind it.
    pub(super) fn step(&mut self, op: Op, span: Span) {
        self.ordered_step((op, Order::default()), span);
    }

    /// Appends an operation of an order and moves on behind it.
    pub(super) fn ordered_step(&mut self, op: (Op, Order), span: Span) {
        let to = self.cfg.node();
        self.ordered_arc(op, to, span);
        self.cursor = to;
    }

    /// Appends an operation that leads to `to`; the cursor stays.
    pub(super) fn arc(&mut self, op: Op, to: Node, span: Span) {
        self.ordered_arc((op, Order::default()), to, span);
    }

    /// Appends an operation of an order that leads to `to`; the cursor stays.
    pub(super) fn ordered_arc(&mut self, op: (Op, Order), to: Node, span: Span) {
        if self.said.spend_edge(span) {
            self.cfg.arc(self.cursor, op, to, span);
        }
    }

    /// Leads on to `to` without doing anything.
    pub(super) fn join(&mut self, to: Node) {
        if self.cfg.labels(self.cursor).is_empty() || self.cfg.find(self.cursor) == self.cfg.find(to) {
            self.cfg.unite(self.cursor, to);
        } else {
            self.arc(Op::Assume(Expr::TRUE), to, Span::default());
        }
    }

    /// Leads to `to` and leaves the cursor where nothing leads.
    pub(super) fn jump(&mut self, to: Node) {
        self.join(to);
        self.cursor = self.cfg.node();
    }

    /// Joins `to` and goes on from there.
    pub(super) fn merge(&mut self, to: Node) {
        self.join(to);
        self.cursor = to;
    }

    /// Whether nothing was done yet and we never come back here.
    pub(super) fn is_at_entry(&self) -> bool {
        let is_entry = self.cfg.find(self.cursor) == self.cfg.find(self.cfg.entry);
        let is_first = self.cfg.arcs.is_empty() && self.cfg.labels(self.cursor).is_empty();
        is_entry && is_first && self.n_loops == 0 && !self.is_atomic
    }

    /// Declares a register.
    pub(super) fn declare(&mut self, local: LocalId) -> RegisterId {
        let it = &self.thread.locals[local];
        let name = it.name.clone().unwrap_or_else(|| format!("${}", self.cfg.slots.len()));
        let is_temporary = it.name.is_none();
        let slot = Slot {
            name,
            is_boolean: it.is_boolean,
            domain: it.domain,
            initial: None,
            local: (!is_temporary).then_some(local),
            scope: self.cfg.scope.clone(),
            span: it.span,
        };
        let register = self.cfg.slots.push(slot);
        let before = self.registers[local].replace(register);
        assert!(before.is_none(), "a register is declared once");
        register
    }

    /// The register that was declared.
    pub(super) fn register(&self, local: LocalId) -> RegisterId {
        self.registers[local].expect("a register is declared before it is used")
    }

    /// A register that the tree does not name, with a range that is inferred.
    pub(super) fn inferred(&mut self, is_boolean: bool, span: Span) -> RegisterId {
        let name = format!("${}", self.cfg.slots.len());
        let scope = self.cfg.scope.clone();
        self.cfg.slots.push(Slot { name, is_boolean, domain: None, initial: None, local: None, scope, span })
    }

    /// A register that the tree does not name.
    pub(super) fn temporary(&mut self, domain: Domain, span: Span) -> RegisterId {
        let name = format!("${}", self.cfg.slots.len());
        let is_boolean = domain == Domain::Bool;
        let (domain, initial, local, scope) = (Some(domain), None, None, None);
        self.cfg.slots.push(Slot { name, is_boolean, domain, initial, local, scope, span })
    }
}
