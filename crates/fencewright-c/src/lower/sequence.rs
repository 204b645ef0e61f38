//! The order of evaluation, where C leaves it open: operands that touch shared memory, one of them to write.
//!
//! Reads are taken from left to right. Where one operand writes and another one reads or writes, a compiler may do either
//! first, so that the program means different things: that is refused.

use fencewright::frontend::hir::{Block, Condition, ConditionKind, Effect, EffectKind, Expr, First, Operand, StmtKind};
use fencewright::source::Span;

use super::Lowering;

/// What statements do to memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Touched {
    reads: bool,
    writes: bool,
}

impl Lowering<'_> {
    /// How many statements there are so far.
    pub(super) fn mark(&self) -> usize {
        self.state.blocks.last().map_or(0, Vec::len)
    }

    /// What the statements from one mark to another do.
    pub(super) fn touched(&self, from: usize, to: usize) -> Touched {
        let mut touched = Touched::default();
        if let Some(block) = self.state.blocks.last() {
            block.get(from..to).unwrap_or_default().iter().for_each(|it| touched.statement(&it.kind));
        }
        touched
    }

    /// Refuses operands that C lets be evaluated in either order, with different results.
    pub(super) fn in_either_order(&mut self, left: Touched, right: Touched, span: Span) -> Option<()> {
        let touches = |it: Touched| it.reads || it.writes;
        if left.writes && touches(right) || right.writes && touches(left) {
            let help = "split the statement, so that one comes before the other";
            return self.refuse(span, "the order of evaluation of these accesses to memory is unspecified", help);
        }
        Some(())
    }
}

impl Touched {
    fn block(&mut self, block: &Block) {
        block.iter().for_each(|it| self.statement(&it.kind));
    }

    fn statement(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Store(_, _, value) => {
                self.writes = true;
                self.expr(value);
            }
            StmtKind::Modify(..) | StmtKind::Fence(_) | StmtKind::OrderedFence(_) => self.writes = true,
            StmtKind::Let(_, First::Kept(effect)) | StmtKind::Do(effect) => self.effect(effect),
            StmtKind::Let(_, First::Value(value)) | StmtKind::Assign(_, value) => self.expr(value),
            StmtKind::Return(Some(value)) => self.expr(value),
            StmtKind::If(branches, otherwise) => {
                branches.iter().for_each(|(condition, block)| {
                    self.condition(condition);
                    self.block(block);
                });
                self.block(otherwise);
            }
            StmtKind::While(condition, block) | StmtKind::DoWhile(block, condition) => {
                self.condition(condition);
                self.block(block);
            }
            StmtKind::Loop(block) | StmtKind::Atomic(block) | StmtKind::Block(block) => self.block(block),
            StmtKind::Copies(bodies) => bodies.iter().for_each(|it| self.block(&it.block)),
            StmtKind::Choose(blocks) => blocks.iter().for_each(|it| self.block(it)),
            StmtKind::Assume(condition) | StmtKind::Assert(condition) => self.condition(condition),
            StmtKind::Let(_, First::Unset | First::Constant(_) | First::Any) | StmtKind::Return(None) => {}
            StmtKind::Check(..) | StmtKind::Break | StmtKind::Continue | StmtKind::Skip => {}
            StmtKind::Goto(_) | StmtKind::Label(_) => {}
        }
    }

    fn effect(&mut self, effect: &Effect) {
        match &effect.kind {
            EffectKind::Load(..) => self.reads = true,
            EffectKind::Update(..) | EffectKind::CompareExchange { .. } => self.writes = true,
            EffectKind::Select(select) => {
                self.condition(&select.condition);
                self.expr(&select.then);
                self.expr(&select.otherwise);
            }
            EffectKind::Call(call) => {
                self.block(&call.arguments);
                self.block(&call.body.block);
            }
            EffectKind::Decide(condition) => self.condition(condition),
            EffectKind::Any(..) => {}
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match &condition.kind {
            ConditionKind::Test(expr) => self.expr(expr),
            ConditionKind::Not(inner) => self.condition(inner),
            ConditionKind::And(a, b) | ConditionKind::Or(a, b) => {
                self.condition(a);
                self.condition(b);
            }
            ConditionKind::Cas { .. } => self.writes = true,
            ConditionKind::Either | ConditionKind::IsSet(..) => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        expr.for_each_var(&mut |it| match it {
            Operand::Effect(effect) => self.effect(effect),
            Operand::Local(_) => {}
        });
    }
}
