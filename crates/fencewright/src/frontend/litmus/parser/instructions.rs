//! Instructions, whose operands may be in either syntax.

use super::Parser;
use super::operands::Syntax;
use crate::frontend::ast::Name;
use crate::frontend::import::cursor::{Failed, Parsed, shortened};
use crate::frontend::import::lexer::TokenKind;
use crate::frontend::litmus::syntax::{Instruction, Locked, Operand, OperandKind};
use crate::frontend::nearest::nearest;
use crate::program::BinaryOp;
use crate::source::{Diagnostic, Span};

/// The instructions without operand.
const PLAIN: &[(&str, Instruction)] = &[
    ("MFENCE", Instruction::Mfence),
    ("SFENCE", Instruction::Sfence),
    ("LFENCE", Instruction::Lfence),
    ("NOP", Instruction::Nop),
];

/// The instructions that compute, and whether they have one operand.
const COMPUTING: &[(&str, BinaryOp, bool)] = &[
    ("ADD", BinaryOp::Add, false),
    ("SUB", BinaryOp::Sub, false),
    ("AND", BinaryOp::BitAnd, false),
    ("OR", BinaryOp::BitOr, false),
    ("XOR", BinaryOp::BitXor, false),
    ("INC", BinaryOp::Add, true),
    ("DEC", BinaryOp::Sub, true),
];

/// The conditional jumps.
const JUMPS: &[(&str, BinaryOp)] = &[
    ("JE", BinaryOp::Eq),
    ("JZ", BinaryOp::Eq),
    ("JNE", BinaryOp::Ne),
    ("JNZ", BinaryOp::Ne),
    ("JL", BinaryOp::Lt),
    ("JLE", BinaryOp::Le),
    ("JG", BinaryOp::Gt),
    ("JGE", BinaryOp::Ge),
];

/// The other instructions with operands.
const OTHERS: &[&str] = &["MOV", "XCHG", "XADD", "CMPXCHG", "CMP", "JMP", "LOCK"];

impl Parser<'_> {
    pub(super) fn instruction(&mut self) -> Parsed<Instruction> {
        let start = self.cursor.current().span;
        let mut locked = Locked::No;
        if self.cursor.text().eq_ignore_ascii_case("LOCK") {
            self.cursor.bump();
            // `LOCK; XADD …` is a way to spell it, within a cell.
            self.cursor.eat(";");
            locked = Locked::Yes;
        }
        let at = self.cursor.current().span;
        let mnemonic = self.mnemonic()?;
        let instruction = self.operands(&mnemonic, locked, at)?;
        let may_lock = match &instruction {
            Instruction::Compute(_, _, to, _)
            | Instruction::Exchange(to, _)
            | Instruction::ExchangeAdd(_, to, _)
            | Instruction::CompareExchange(_, to, _) => is_memory(to),
            Instruction::Move(..)
            | Instruction::Compare(..)
            | Instruction::JumpIf(..)
            | Instruction::Jump(_)
            | Instruction::Mfence
            | Instruction::Sfence
            | Instruction::Lfence
            | Instruction::Nop => false,
        };
        if locked == Locked::Yes && !may_lock {
            let message = format!("`LOCK` before `{mnemonic}`");
            let help = "`LOCK` goes with `ADD`, `SUB`, `INC`, `DEC`, `AND`, `OR`, `XOR`, `XADD`, `XCHG` and `CMPXCHG` \
                        whose first operand is in memory";
            return Err(self.cursor.report(Diagnostic::error(start.to(at), message).with_help(help)));
        }
        Ok(instruction)
    }

    /// The name of an instruction, in capitals and without the letter for its width.
    fn mnemonic(&mut self) -> Parsed<String> {
        let written = self.cursor.text().to_ascii_uppercase();
        let plain = PLAIN.iter().map(|it| it.0);
        let known: Vec<&str> = plain
            .chain(COMPUTING.iter().map(|it| it.0))
            .chain(JUMPS.iter().map(|it| it.0))
            .chain(OTHERS.iter().copied())
            .collect();
        let unsized_name = written.strip_suffix(['B', 'W', 'L', 'Q', 'D']).unwrap_or_default();
        let found = known.iter().find(|it| **it == written).or_else(|| {
            let may_be_sized =
                !unsized_name.starts_with('J') && !unsized_name.ends_with("FENCE") && unsized_name != "NOP";
            known.iter().find(|it| may_be_sized && **it == unsized_name)
        });
        match found {
            Some(name) => {
                self.cursor.bump();
                Ok((*name).to_owned())
            }
            None => Err(self.unknown_instruction(&written, &known)),
        }
    }

    fn unknown_instruction(&mut self, written: &str, known: &[&str]) -> Failed {
        if self.cursor.kind() != TokenKind::Word {
            let help = "a cell holds one instruction, such as `MOV [x],$1` or `mov $1,(x)`";
            return self.cursor.expected("an instruction", help);
        }
        let help = match (written, nearest(written, known.iter().copied())) {
            ("JA" | "JAE" | "JB" | "JBE" | "JS" | "JNS" | "JO" | "JC", _) => {
                "the conditional jumps are `JE`, `JNE`, `JZ`, `JNZ`, `JL`, `JLE`, `JG` and `JGE`".to_owned()
            }
            (_, Some(it)) => format!("did you mean `{it}`?"),
            (_, None) => {
                "supported are `MOV`, `ADD`, `SUB`, `INC`, `DEC`, `AND`, `OR`, `XOR`, `XCHG`, `XADD`, `CMPXCHG`, \
                          `LOCK`, `CMP`, jumps, `MFENCE`, `SFENCE`, `LFENCE` and `NOP`"
                    .to_owned()
            }
        };
        let message = format!("unsupported instruction `{}`", shortened(self.cursor.text()));
        self.cursor.report(Diagnostic::error(self.cursor.current().span, message).with_help(help))
    }

    fn operands(&mut self, mnemonic: &str, locked: Locked, at: Span) -> Parsed<Instruction> {
        if let Some((_, instruction)) = PLAIN.iter().find(|it| it.0 == mnemonic) {
            return Ok(instruction.clone());
        }
        if let Some((_, op)) = JUMPS.iter().find(|it| it.0 == mnemonic) {
            return Ok(Instruction::JumpIf(*op, self.jump_target()?));
        }
        if mnemonic == "JMP" {
            return Ok(Instruction::Jump(self.jump_target()?));
        }
        let syntax = self.syntax();
        let computing = COMPUTING.iter().find(|it| it.0 == mnemonic);
        if let Some((_, op, true)) = computing {
            let to = self.operand(syntax)?;
            self.check_destination(mnemonic, &to)?;
            let one = Operand { span: at, kind: OperandKind::Number(1) };
            return Ok(Instruction::Compute(locked, *op, to, one));
        }
        let (to, from) = self.operand_pair(mnemonic, syntax)?;
        if mnemonic != "CMP" {
            self.check_destination(mnemonic, &to)?;
        }
        self.check_pair(mnemonic, syntax, &to, &from)?;
        Ok(match (mnemonic, computing) {
            (_, Some((_, op, _))) => Instruction::Compute(locked, *op, to, from),
            ("XCHG", None) if is_memory(&from) => Instruction::Exchange(from, to),
            ("XCHG", None) => Instruction::Exchange(to, from),
            ("XADD", None) => Instruction::ExchangeAdd(locked, to, from),
            ("CMPXCHG", None) => Instruction::CompareExchange(locked, to, from),
            ("CMP", None) => Instruction::Compare(to, from),
            (_, None) => Instruction::Move(to, from),
        })
    }

    fn check_pair(&mut self, mnemonic: &str, syntax: Syntax, to: &Operand, from: &Operand) -> Parsed<()> {
        let span = Span::new(to.span.start.min(from.span.start), to.span.end.max(from.span.end));
        if is_memory(to) && is_memory(from) {
            let help = "load one of them into a register first";
            let diagnostic = Diagnostic::error(span, format!("`{mnemonic}` with two operands in memory"));
            return Err(self.cursor.report(diagnostic.with_help(help)));
        }
        let swaps = matches!(mnemonic, "XCHG" | "XADD" | "CMPXCHG");
        if swaps && matches!(from.kind, OperandKind::Number(_)) {
            let (first, then) = (syntax.number_to_register(), syntax.into_memory(mnemonic));
            let help = format!("put the number into a register first: `{first}`, then `{then}`");
            let diagnostic = Diagnostic::error(from.span, format!("`{mnemonic}` with a number"));
            return Err(self.cursor.report(diagnostic.with_help(help)));
        }
        if matches!(mnemonic, "XADD" | "CMPXCHG") && is_memory(from) {
            let help = format!("the location is what is changed: `{}`", syntax.into_memory(mnemonic));
            let diagnostic = Diagnostic::error(from.span, format!("`{mnemonic}` from memory"));
            return Err(self.cursor.report(diagnostic.with_help(help)));
        }
        Ok(())
    }

    fn jump_target(&mut self) -> Parsed<Name> {
        self.cursor.name("a label", "a jump names a label of its thread: `JNE L0`, with `L0:` in a cell of the column")
    }

    fn check_destination(&mut self, mnemonic: &str, to: &Operand) -> Parsed<()> {
        if let OperandKind::Number(_) = to.kind {
            let message = format!("`{mnemonic}` into a number");
            let help = "the destination comes first in Intel syntax, `MOV [x],$1`, and last in AT&T syntax, \
                        `mov $1,(x)`";
            return Err(self.cursor.report(Diagnostic::error(to.span, message).with_help(help)));
        }
        Ok(())
    }
}

fn is_memory(operand: &Operand) -> bool {
    matches!(operand.kind, OperandKind::Location(_) | OperandKind::Pointed(_))
}
