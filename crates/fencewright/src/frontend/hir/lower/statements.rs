//! Statements: what each of them puts behind the cursor.

use std::sync::Arc;

use crate::frontend::hir::{
    AllocationId, Block, Body, Call, Condition, ConditionKind, Effect, EffectKind, Expr as Tree, FenceOrder, First,
    LocalId, Place, Stmt, StmtKind, StoreOrder,
};
use crate::program::{BinaryOp, Called, Domain, Expr, FenceKind, Initial, Misuse, Op, Order};
use crate::source::Span;
use crate::watch::heed;

use super::cfg::Node;
use super::unset::Unset;
use super::walk::{Activation, Loop, Walk};

impl Walk<'_> {
    /// Statements that come together.
    pub(super) fn block(&mut self, block: &Block) {
        block.iter().for_each(|stmt| self.statement(stmt));
    }

    fn statement(&mut self, stmt: &Stmt) {
        heed(4);
        assert!(!self.is_atomic || may_be_atomic(&stmt.kind), "an atomic block is one step");
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Let(local, first) => self.let_(*local, first, span),
            StmtKind::Assign(local, value) => self.assign(*local, value, span),
            StmtKind::Store(place, order, value) => self.store(place, *order, value, span),
            StmtKind::Modify(place, target, by) => self.modify(place, *target, by, span),
            StmtKind::Do(effect) => self.do_(effect),
            StmtKind::If(branches, otherwise) => self.if_(branches, otherwise),
            StmtKind::While(condition, body) => self.while_(condition, body),
            StmtKind::DoWhile(body, condition) => self.do_while(body, condition),
            StmtKind::Loop(body) => self.loop_(body),
            StmtKind::Copies(bodies) => self.copies(bodies),
            StmtKind::Choose(blocks) => self.choose(blocks, span),
            StmtKind::Atomic(block) => self.atomic(block, span),
            StmtKind::Block(block) => self.block(block),
            StmtKind::Break => self.leave_loop(|it| it.exit),
            StmtKind::Continue => self.leave_loop(|it| it.next),
            StmtKind::Return(value) => self.return_(value.as_ref(), span),
            StmtKind::Goto(label) => {
                let node = self.labels[*label].expect("the label is in a body around the jump");
                self.jump(node);
            }
            StmtKind::Label(label) => {
                let node = self.labels[*label].expect("the label is in the list of its body");
                self.cfg.unite(self.cursor, node);
                self.cursor = node;
                // A jump further down may lead here.
                self.cfg.reach(node);
            }
            StmtKind::Assume(condition) => {
                let holds = self.cfg.node();
                self.cfg.waits.push(span);
                self.condition(condition, Some(holds), None);
                self.cursor = holds;
            }
            StmtKind::Assert(condition) => self.assert(condition),
            StmtKind::Check(condition, misuse) => self.check(condition, *misuse),
            StmtKind::Fence(kind @ FenceKind::Full) => self.step(Op::Fence(*kind), span),
            // The language has no fence that is as weak.
            StmtKind::Fence(kind @ FenceKind::StoreStore) => {
                self.ordered_step((Op::Fence(*kind), Order::Relaxed), span);
            }
            StmtKind::OrderedFence(order) => self.ordered_fence(*order, span),
            StmtKind::Allocate(allocation) => self.allocate(*allocation, span),
            StmtKind::Skip => {}
        }
    }

    fn allocate(&mut self, allocation: AllocationId, span: Span) {
        for place in &self.allocations[allocation] {
            let place = self.place(place);
            let n_before = self.cfg.arcs.len();
            self.step(Op::Assume(Expr::TRUE), span);
            self.cfg.arcs[n_before..].iter_mut().for_each(|arc| arc.allocates = Some(place.clone()));
        }
    }

    fn ordered_fence(&mut self, order: FenceOrder, span: Span) {
        let op = order.kind().map_or(Op::Assume(Expr::TRUE), Op::Fence);
        self.ordered_step((op, order.order()), span);
    }

    fn let_(&mut self, local: LocalId, first: &First, statement: Span) {
        if let First::Kept(effect) = first {
            let Expr::Var(register) = self.effect(effect) else {
                unreachable!("an effect leaves its value in a register")
            };
            self.registers[local] = Some(register);
            return;
        }
        let register = self.declare(local);
        match first {
            First::Unset | First::Kept(_) => {}
            First::Constant(value) if self.is_at_entry() => {
                self.cfg.slots[register].initial = Some(Initial::Value(*value));
            }
            First::Constant(value) => self.step(Op::Assign(register, Expr::Const(*value)), statement),
            First::Any if self.is_at_entry() => self.cfg.slots[register].initial = Some(Initial::Any),
            First::Any => {
                let bounds = self.cfg.slots[register].domain.and_then(Domain::bounds);
                let (lo, hi) = bounds.expect("the domain is declared and finite");
                self.step(Op::Havoc(register, lo, hi), statement);
            }
            First::Value(value) => self.assign(local, value, statement),
        }
    }

    fn store(&mut self, place: &Place, order: StoreOrder, value: &Tree, statement: Span) {
        let place = self.place(place);
        let value = self.value(value);
        self.fence(order.before(), statement);
        let ordered = self.ordered(&place, order.order());
        self.ordered_step((Op::Store(place, value), ordered), statement);
        self.fence(order.after(), statement);
    }

    fn modify(&mut self, place: &Place, target: Span, by: &[(BinaryOp, Tree)], statement: Span) {
        let domain = self.domain_of(place);
        let place = self.place(place);
        let old = self.temporary(domain, target);
        let order = self.ordered(&place, Order::default());
        self.ordered_step((Op::Load(old, place.clone()), order), target);
        let mut sum = Expr::Var(old);
        for (op, value) in by {
            sum = Expr::binary(*op, sum, self.value(value));
        }
        self.ordered_step((Op::Store(place, sum), order), statement);
    }

    fn do_(&mut self, effect: &Effect) {
        match &effect.kind {
            EffectKind::Update(place, order, update, argument) => {
                self.update((place, *order), (*update, argument), None, effect.span);
            }
            EffectKind::Call(call) => self.call(call),
            EffectKind::Load(..)
            | EffectKind::Any(..)
            | EffectKind::Decide(_)
            | EffectKind::CompareExchange { .. }
            | EffectKind::Select(_) => drop(self.effect(effect)),
        }
    }

    /// The statements of a function.
    pub(super) fn call(&mut self, call: &Call) {
        let within = self.cfg.call.clone();
        let called = call.name.as_ref().map(|(function, span)| {
            Arc::new(Called { function: function.clone(), span: *span, within: within.clone() })
        });
        let scope = call.name.as_ref().map_or(self.cfg.scope.clone(), |it| Some(it.0.clone()));
        let around = std::mem::replace(&mut self.cfg.scope, scope);
        // Arguments are found where the call stands.
        self.block(&call.arguments);
        self.cfg.call = called.or_else(|| within.clone());
        let exit = self.cfg.node();
        self.stack.push(Activation { exit, result: call.result, loops: Vec::new() });
        self.body(&call.body);
        if self.cfg.is_reached(exit) {
            self.merge(exit);
        }
        self.stack.pop();
        self.cfg.call = within;
        self.cfg.scope = around;
    }

    fn return_(&mut self, value: Option<&Tree>, span: Span) {
        let (exit, result) = (self.here().exit, self.here().result);
        if let Some(value) = value {
            let result = result.expect("a function that returns a value has a result");
            self.assign(result, value, span);
        }
        self.jump(exit);
    }

    fn if_(&mut self, branches: &[(Condition, Block)], last: &Block) {
        let Some(((condition, block), rest)) = branches.split_first() else {
            return self.block(last);
        };
        let (then, otherwise, after) = (self.cfg.node(), self.cfg.node(), self.cfg.node());
        self.condition(condition, Some(then), Some(otherwise));
        self.cursor = then;
        self.block(block);
        self.join(after);
        self.cursor = otherwise;
        self.if_(rest, last);
        self.merge(after);
    }

    fn while_(&mut self, condition: &Condition, body: &Block) {
        let (head, inside, exit) = (self.cursor, self.cfg.node(), self.cfg.node());
        self.n_loops += 1;
        self.condition(condition, Some(inside), Some(exit));
        self.cursor = inside;
        self.here().loops.push(Loop { exit, next: head });
        self.block(body);
        self.join(head);
        self.here().loops.pop();
        self.n_loops -= 1;
        self.cursor = exit;
    }

    fn do_while(&mut self, body: &Block, condition: &Condition) {
        let (head, next, exit) = (self.cursor, self.cfg.node(), self.cfg.node());
        self.n_loops += 1;
        self.here().loops.push(Loop { exit, next });
        self.block(body);
        self.here().loops.pop();
        self.merge(next);
        self.condition(condition, Some(head), Some(exit));
        self.n_loops -= 1;
        self.cursor = exit;
    }

    fn loop_(&mut self, body: &Block) {
        let (head, exit) = (self.cursor, self.cfg.node());
        self.n_loops += 1;
        self.here().loops.push(Loop { exit, next: head });
        self.block(body);
        self.join(head);
        self.here().loops.pop();
        self.n_loops -= 1;
        self.cursor = exit;
    }

    fn copies(&mut self, bodies: &[Body]) {
        let exit = self.cfg.node();
        for body in bodies {
            let next = self.cfg.node();
            self.here().loops.push(Loop { exit, next });
            self.body(body);
            self.here().loops.pop();
            if self.cfg.is_reached(next) {
                self.merge(next);
            }
        }
        if self.cfg.is_reached(exit) {
            self.merge(exit);
        }
    }

    fn choose(&mut self, blocks: &[Block], span: Span) {
        let (start, after) = (self.cursor, self.cfg.node());
        for block in blocks {
            let branch = self.cfg.node();
            self.cursor = start;
            self.arc(Op::Assume(Expr::TRUE), branch, span);
            self.cursor = branch;
            self.block(block);
            self.join(after);
        }
        self.cursor = after;
    }

    fn leave_loop(&mut self, target: impl Fn(&Loop) -> Node) {
        let node = self.here().loops.last().map(target);
        self.jump(node.expect("a loop is around the jump"));
    }

    fn assert(&mut self, condition: &Condition) {
        if let ConditionKind::Test(value) = &condition.kind {
            let value = self.value(value);
            if value != Expr::TRUE {
                self.step(Op::Assert(value), condition.span);
            }
            return;
        }
        let (holds, fails) = (self.cfg.node(), self.cfg.node());
        self.condition(condition, Some(holds), Some(fails));
        self.cursor = fails;
        self.arc(Op::Assert(Expr::Const(0)), holds, condition.span);
        self.cursor = holds;
    }

    /// An assertion that the text does not have.
    fn check(&mut self, condition: &Condition, misuse: Misuse) {
        let n_before = self.cfg.arcs.len();
        if let ConditionKind::IsSet(value, place) = &condition.kind
            && let Some(Unset::Value(unset)) = self.unset_of(place)
        {
            let is_set = Tree::binary(BinaryOp::Ne, value.clone(), Tree::Const(unset));
            self.assert(&Condition { span: condition.span, kind: ConditionKind::Test(is_set) });
        } else {
            self.assert(condition);
        }
        let assertions = self.cfg.arcs[n_before..].iter_mut().filter(|arc| matches!(arc.op, Op::Assert(_)));
        assertions.for_each(|arc| arc.misuse = Some(misuse));
    }
}

/// Whether a statement may stand in an atomic block.
fn may_be_atomic(kind: &StmtKind) -> bool {
    match kind {
        StmtKind::While(..) | StmtKind::DoWhile(..) | StmtKind::Loop(_) | StmtKind::Atomic(_) => false,
        StmtKind::Goto(_) | StmtKind::Label(_) | StmtKind::Break | StmtKind::Continue => false,
        StmtKind::Fence(_) | StmtKind::OrderedFence(_) | StmtKind::Allocate(_) => false,
        // A return leads to the end of a function that was called in the block.
        StmtKind::Return(_) | StmtKind::Let(..) | StmtKind::Assign(..) | StmtKind::Store(..) => true,
        StmtKind::Modify(..) | StmtKind::Do(_) | StmtKind::If(..) | StmtKind::Copies(_) => true,
        StmtKind::Choose(_) | StmtKind::Block(_) | StmtKind::Assume(_) | StmtKind::Assert(_) | StmtKind::Skip => true,
        StmtKind::Check(..) => true,
    }
}
