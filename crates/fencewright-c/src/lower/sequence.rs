//! The order of evaluation, where C leaves it open: operands that touch shared memory, one of them to write.
//!
//! Reads are taken from left to right. Where one operand writes and another one reads or writes, a compiler may do
//! either first, so that the program means different things: that is refused. Data that is not atomic counts where it
//! is the same that is written and read, since nobody else looks at it in between.

use std::collections::BTreeSet;

use fencewright::frontend::hir::{
    Block, Condition, ConditionKind, Effect, EffectKind, Expr, First, LoadOrder, Operand, Place, StmtKind, StoreOrder,
};
use fencewright::program::{LocationId, Program};
use fencewright::source::Span;

use super::Lowering;

/// What statements do to memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched {
    reads: bool,
    writes: bool,
    /// What is read and written that is not atomic; of arrays, the first cells.
    plain_reads: BTreeSet<LocationId>,
    plain_writes: BTreeSet<LocationId>,
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
            let mut look = Look { touched: &mut touched, memory: self.unit.memory() };
            block.get(from..to).unwrap_or_default().iter().for_each(|it| look.statement(&it.kind));
        }
        touched
    }

    /// Refuses operands that C lets be evaluated in either order, with different results.
    pub(super) fn in_either_order(&mut self, left: &Touched, right: &Touched, span: Span) -> Option<()> {
        if left.disturbs(right) || right.disturbs(left) {
            let help = "split the statement, so that one comes before the other";
            return self.refuse(span, "the order of evaluation of these accesses to memory is unspecified", help);
        }
        Some(())
    }
}

impl Touched {
    /// Whether it writes what another one touches.
    fn disturbs(&self, other: &Self) -> bool {
        let is_same = |it: &LocationId| other.plain_reads.contains(it) || other.plain_writes.contains(it);
        self.writes && (other.reads || other.writes) || self.plain_writes.iter().any(is_same)
    }
}

/// Looks at statements.
struct Look<'l> {
    touched: &'l mut Touched,
    memory: &'l Program,
}

impl Look<'_> {
    fn first_of(&self, place: &Place) -> LocationId {
        match place {
            Place::Fixed(location) => self.memory.array_of(*location).map_or(*location, |it| it.first),
            Place::Cell(array, _) => self.memory.arrays()[*array].first,
        }
    }

    fn write(&mut self) {
        self.touched.writes = true;
    }

    fn block(&mut self, block: &Block) {
        block.iter().for_each(|it| self.statement(&it.kind));
    }

    fn statement(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Store(place, StoreOrder::Plain, value) => {
                let first = self.first_of(place);
                self.touched.plain_writes.insert(first);
                self.expr(value);
            }
            StmtKind::Store(_, _, value) => {
                self.write();
                self.expr(value);
            }
            StmtKind::Modify(..) | StmtKind::Fence(_) | StmtKind::OrderedFence(_) => self.write(),
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
            StmtKind::Goto(_) | StmtKind::Label(_) | StmtKind::Allocate(_) => {}
        }
    }

    fn effect(&mut self, effect: &Effect) {
        match &effect.kind {
            EffectKind::Load(place, LoadOrder::Plain) => {
                let first = self.first_of(place);
                self.touched.plain_reads.insert(first);
            }
            EffectKind::Load(..) => self.touched.reads = true,
            EffectKind::Update(..) | EffectKind::CompareExchange { .. } => self.write(),
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
            ConditionKind::Cas { .. } => self.write(),
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
