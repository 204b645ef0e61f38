//! Instructions as statements.

use super::body::Body;
use super::flags::{self, Flags, is_memory};
use crate::frontend::ast::{Assign, Compound, Else, Expr, If, Stmt, StmtKind, Target};
use crate::frontend::import::tree::{
    assign, atomic, binary, block, comment, int, let_, name, stmt, target, value_of, var,
};
use crate::frontend::litmus::registers;
use crate::frontend::litmus::syntax::{Instruction, Locked, Operand, OperandKind, Row, RowKind};
use crate::program::{BinaryOp, FenceKind};
use crate::source::{Diagnostic, Span};

impl Body<'_, '_> {
    /// Translates an instruction that is not a jump.
    pub(super) fn instruction(&mut self, it: &Instruction, span: Span, out: &mut Vec<Stmt>) {
        match it {
            Instruction::Move(to, from) => {
                out.extend(self.target(to).map(|to| assign(to, self.value(from), span)));
            }
            Instruction::Compute(locked, op, to, by) => self.compute(*locked, *op, (to, by), span, out),
            Instruction::Exchange(to, with) => {
                let steps = self.exchange(to, with, span);
                out.push(grouped(is_memory(to), steps, span));
            }
            Instruction::ExchangeAdd(locked, to, by) => {
                let steps = self.exchange_add(to, by, span);
                out.push(grouped(*locked == Locked::Yes, steps, span));
            }
            Instruction::CompareExchange(locked, to, new) => {
                let steps = self.compare_exchange(*locked, to, new, span);
                out.push(grouped(*locked == Locked::Yes, steps, span));
            }
            Instruction::Compare(a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                out.extend(self.keep(a, b, span));
            }
            Instruction::Mfence => out.push(stmt(StmtKind::Fence(FenceKind::Full), span)),
            Instruction::Sfence => out.push(stmt(StmtKind::Fence(FenceKind::StoreStore), span)),
            Instruction::Lfence => {
                let mut skip = stmt(StmtKind::Skip, span);
                skip.trivia.after = Some(comment("LFENCE: loads are not reordered with each other anyway"));
                out.push(skip);
            }
            Instruction::Nop | Instruction::Jump(_) | Instruction::JumpIf(..) => {
                out.push(stmt(StmtKind::Skip, span));
            }
        }
    }

    /// Keeps what is compared, if jumps need it.
    fn keep(&self, a: Expr, b: Expr, span: Span) -> Vec<Stmt> {
        match self.flags {
            Flags::Direct => Vec::new(),
            Flags::Kept => {
                let [to_a, to_b] = &self.helpers.compared;
                vec![assign(target(to_a, span), a, span), assign(target(to_b, span), b, span)]
            }
        }
    }

    /// `ADD to,by`
    fn compute(&self, locked: Locked, op: BinaryOp, (to, by): (&Operand, &Operand), span: Span, out: &mut Vec<Stmt>) {
        let Some(place) = self.target(to) else { return };
        let value = if is_same_register(to, by) && matches!(op, BinaryOp::BitXor | BinaryOp::Sub) {
            // The usual way to clear a register.
            int(0, span)
        } else {
            binary(op, value_of(&place), self.value(by))
        };
        let mut steps = Vec::new();
        match self.flags {
            Flags::Kept if is_memory(to) => {
                steps.extend(self.keep(value, int(0, span), span));
                steps.push(assign(place, var(&self.helpers.compared[0], span), span));
            }
            Flags::Kept => {
                steps.push(assign(place.clone(), value, span));
                steps.extend(self.keep(value_of(&place), int(0, span), span));
            }
            Flags::Direct => steps.push(updated(place, op, value, self.value(by), span)),
        }
        if locked == Locked::Yes {
            out.push(atomic(steps, span));
        } else {
            out.extend(steps);
        }
    }

    /// `XCHG to,with`
    fn exchange(&self, to: &Operand, with: &Operand, span: Span) -> Vec<Stmt> {
        let (Some(to), Some(with)) = (self.target(to), self.target(with)) else { return Vec::new() };
        let new = value_of(&with);
        vec![self.let_old(&to, span), assign(to, new, span), assign(with, self.old(span), span)]
    }

    /// `XADD to,by`
    fn exchange_add(&self, to: &Operand, by: &Operand, span: Span) -> Vec<Stmt> {
        let is_same = is_same_register(to, by);
        let (Some(to), Some(by)) = (self.target(to), self.target(by)) else { return Vec::new() };
        let sum = binary(BinaryOp::Add, self.old(span), value_of(&by));
        let mut steps = vec![self.let_old(&to, span)];
        steps.extend(self.keep(sum.clone(), int(0, span), span));
        steps.push(assign(to, sum, span));
        if !is_same {
            steps.push(assign(by, self.old(span), span));
        }
        steps
    }

    /// `CMPXCHG to,new`
    fn compare_exchange(&self, locked: Locked, to: &Operand, new: &Operand, span: Span) -> Vec<Stmt> {
        let Some(place) = self.target(to) else { return Vec::new() };
        let accumulator = target(self.translation.register_text((self.thread, registers::ACCUMULATOR)), span);
        let mut steps = vec![self.let_old(&place, span)];
        steps.extend(self.keep(value_of(&accumulator), self.old(span), span));
        let mut failed = vec![assign(accumulator.clone(), self.old(span), span)];
        if locked == Locked::No && is_memory(to) {
            // The processor writes the old value back, which matters only where others may write in between.
            failed.insert(0, assign(place.clone(), self.old(span), span));
        }
        let condition = binary(BinaryOp::Eq, self.old(span), value_of(&accumulator));
        let then = block(vec![assign(place, self.value(new), span)], span);
        let otherwise = Some(Else::Block(block(failed, span)));
        steps.push(stmt(StmtKind::If(If { condition, then, otherwise }), span));
        steps
    }

    fn let_old(&self, place: &Target, span: Span) -> Stmt {
        let_(name(&self.helpers.old, span), None, value_of(place), span)
    }

    fn old(&self, span: Span) -> Expr {
        var(&self.helpers.old, span)
    }

    /// What a conditional jump asks.
    pub(super) fn jump_condition(&mut self, rows: &[Row], jump: usize, op: BinaryOp) -> Option<Expr> {
        let span = rows[jump].span;
        if !rows[..jump].iter().any(flags::sets) {
            let message = "conditional jump without a comparison before it";
            let help = "put `CMP a,b` before it; it jumps on how the operands compare";
            self.diagnostics.push(Diagnostic::error(span, message).with_help(help));
            return None;
        }
        let (a, b) = match (self.flags, flags::setter(rows, jump).map(|at| &rows[at].kind)) {
            (Flags::Direct, Some(RowKind::Instruction(Instruction::Compare(a, b)))) => (self.value(a), self.value(b)),
            (Flags::Direct, Some(RowKind::Instruction(Instruction::Compute(_, _, to, _)))) => {
                (self.value(to), int(0, span))
            }
            (Flags::Direct | Flags::Kept, _) => {
                let [a, b] = &self.helpers.compared;
                (var(a, span), var(b, span))
            }
        };
        Some(binary(op, a, b))
    }
}

/// Several steps as one statement: in one step, or in a block.
fn grouped(is_atomic: bool, steps: Vec<Stmt>, span: Span) -> Stmt {
    if is_atomic { atomic(steps, span) } else { stmt(StmtKind::Block(block(steps, span)), span) }
}

/// `to += by;` where there is such a form, `to = value;` otherwise.
fn updated(to: Target, op: BinaryOp, value: Expr, by: Expr, span: Span) -> Stmt {
    let is_update = matches!(&value.kind, crate::frontend::ast::ExprKind::Binary(..));
    if is_update && matches!(op, BinaryOp::Add | BinaryOp::Sub) {
        return stmt(StmtKind::Assign(Assign { target: to, op: Some(Compound::Binary(op)), value: by }), span);
    }
    assign(to, value, span)
}

fn is_same_register(a: &Operand, b: &Operand) -> bool {
    match (&a.kind, &b.kind) {
        (OperandKind::Register(a), OperandKind::Register(b)) => a.family == b.family,
        (OperandKind::Register(_) | OperandKind::Number(_) | OperandKind::Location(_) | OperandKind::Pointed(_), _) => {
            false
        }
    }
}
