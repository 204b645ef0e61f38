//! Final states: what the entry asserts behind all threads, as conditions on memory.

use std::collections::BTreeMap;

use fencewright::frontend::hir::{
    Block, Condition, ConditionKind, Effect, EffectKind, Expr, First, LocalId, Observed, Operand, Place, StmtKind,
};
use fencewright::program::{self, BinaryOp};
use fencewright::source::Span;

type Seen = BTreeMap<LocalId, program::Expr<Observed>>;
type Finals = Vec<(program::Expr<Observed>, Span)>;

/// What must hold behind all threads, if that is all that is done there.
pub(super) fn finals(block: &Block) -> Option<Finals> {
    let (mut seen, mut finals) = (Seen::new(), Finals::new());
    of_block(block, &mut seen, &mut finals)?;
    Some(finals)
}

fn of_block(block: &Block, seen: &mut Seen, finals: &mut Finals) -> Option<()> {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Let(local, first) => {
                let value = match first {
                    First::Kept(effect) => of_effect(effect, seen)?,
                    First::Value(expr) => of_expr(expr, seen)?,
                    First::Constant(value) => program::Expr::Const(*value),
                    First::Unset | First::Any => return None,
                };
                seen.insert(*local, value);
            }
            StmtKind::Assign(local, expr) => {
                let value = of_expr(expr, seen)?;
                seen.insert(*local, value);
            }
            StmtKind::Assert(condition) => finals.push((of_condition(condition, seen)?, condition.span)),
            StmtKind::Do(Effect { kind: EffectKind::Call(call), .. }) if call.body.labels.is_empty() => {
                of_block(&call.body.block, seen, finals)?;
            }
            StmtKind::Block(block) => of_block(block, seen, finals)?,
            _ => return None,
        }
    }
    Some(())
}

fn of_expr(expr: &Expr, seen: &Seen) -> Option<program::Expr<Observed>> {
    Some(match expr {
        Expr::Const(value) => program::Expr::Const(*value),
        Expr::Var(Operand::Local(local)) => seen.get(local)?.clone(),
        Expr::Var(Operand::Effect(effect)) => of_effect(effect, seen)?,
        Expr::Unary(op, of) => program::Expr::unary(*op, of_expr(of, seen)?),
        Expr::Binary(op, a, b) => program::Expr::binary(*op, of_expr(a, seen)?, of_expr(b, seen)?),
    })
}

fn of_effect(effect: &Effect, seen: &Seen) -> Option<program::Expr<Observed>> {
    match &effect.kind {
        EffectKind::Load(Place::Fixed(location), _) => Some(program::Expr::Var(Observed::Memory(*location))),
        EffectKind::Decide(condition) => of_condition(condition, seen),
        EffectKind::Load(..)
        | EffectKind::Any(..)
        | EffectKind::Update(..)
        | EffectKind::CompareExchange { .. }
        | EffectKind::Select(_)
        | EffectKind::Call(_) => None,
    }
}

fn of_condition(condition: &Condition, seen: &Seen) -> Option<program::Expr<Observed>> {
    let both = |op, a: &Condition, b: &Condition| {
        Some(program::Expr::binary(op, of_condition(a, seen)?, of_condition(b, seen)?))
    };
    match &condition.kind {
        ConditionKind::Test(expr) => of_expr(expr, seen),
        ConditionKind::Not(inner) => Some(of_condition(inner, seen)?.negated()),
        ConditionKind::And(a, b) => both(BinaryOp::And, a, b),
        ConditionKind::Or(a, b) => both(BinaryOp::Or, a, b),
        ConditionKind::Either | ConditionKind::IsSet(..) | ConditionKind::Cas { .. } => None,
    }
}
