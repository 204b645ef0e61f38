//! How the flags of a thread reach its conditional jumps.
//!
//! Where every jump comes right behind what it is about, it says so itself: `if (EAX == 1) { goto L; }`. Otherwise the
//! operands that were compared last are kept in two registers.

use crate::frontend::litmus::syntax::{Instruction, Operand, OperandKind, Row, RowKind};

/// How jumps learn what was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flags {
    /// From the instruction before them.
    Direct,
    /// From registers.
    Kept,
}

/// Whether an instruction sets the flags.
pub(super) fn sets(row: &Row) -> bool {
    match &row.kind {
        RowKind::Instruction(
            Instruction::Compute(..)
            | Instruction::ExchangeAdd(..)
            | Instruction::CompareExchange(..)
            | Instruction::Compare(..),
        ) => true,
        RowKind::Instruction(
            Instruction::Move(..)
            | Instruction::Exchange(..)
            | Instruction::JumpIf(..)
            | Instruction::Jump(_)
            | Instruction::Mfence
            | Instruction::Sfence
            | Instruction::Lfence
            | Instruction::Nop,
        )
        | RowKind::Label(_) => false,
    }
}

/// How the jumps of a thread learn what was compared.
pub(super) fn of(rows: &[Row]) -> Flags {
    let is_direct = |i: usize| !is_jump(&rows[i]) || setter(rows, i).is_some_and(|at| may_be_direct(rows, at));
    if (0..rows.len()).all(is_direct) { Flags::Direct } else { Flags::Kept }
}

/// The instruction that a jump is about, if only jumps are between them.
pub(super) fn setter(rows: &[Row], jump: usize) -> Option<usize> {
    let before = rows[..jump].iter().rposition(|row| !is_jump(row))?;
    sets(&rows[before]).then_some(before)
}

/// Whether the next row is a conditional jump.
pub(super) fn is_before_jump(rows: &[Row], at: usize) -> bool {
    rows.get(at + 1).is_some_and(is_jump)
}

fn may_be_direct(rows: &[Row], at: usize) -> bool {
    let has_second_jump = is_before_jump(rows, at) && is_before_jump(rows, at + 1);
    match &rows[at].kind {
        // The operands are looked at by each jump, which for memory is a load.
        RowKind::Instruction(Instruction::Compare(a, b)) => !has_second_jump || !is_memory(a) && !is_memory(b),
        RowKind::Instruction(Instruction::Compute(_, _, to, _)) => !is_memory(to),
        RowKind::Instruction(_) | RowKind::Label(_) => false,
    }
}

fn is_jump(row: &Row) -> bool {
    matches!(&row.kind, RowKind::Instruction(Instruction::JumpIf(..)))
}

/// Whether an operand is in memory.
pub(super) fn is_memory(operand: &Operand) -> bool {
    matches!(operand.kind, OperandKind::Location(_) | OperandKind::Pointed(_))
}
