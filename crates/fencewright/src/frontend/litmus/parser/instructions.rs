//! Instructions, in Intel syntax: the destination comes first.

use super::Parser;
use crate::frontend::ast::Name;
use crate::frontend::import::cursor::{Failed, Parsed, shortened};
use crate::frontend::import::lexer::TokenKind;
use crate::frontend::litmus::registers;
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
            return self.cursor.expected("an instruction", "a cell holds one instruction, such as `MOV [x],$1`");
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
        let computing = COMPUTING.iter().find(|it| it.0 == mnemonic);
        if let Some((_, op, true)) = computing {
            let to = self.destination(mnemonic)?;
            let one = Operand { span: at, kind: OperandKind::Number(1) };
            return Ok(Instruction::Compute(locked, *op, to, one));
        }
        let to = if mnemonic == "CMP" { self.operand()? } else { self.destination(mnemonic)? };
        self.cursor.expect(",", &format!("`{mnemonic}` has two operands: `{mnemonic} a,b`"))?;
        let from = self.operand()?;
        self.check_pair(mnemonic, &to, &from)?;
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

    fn check_pair(&mut self, mnemonic: &str, to: &Operand, from: &Operand) -> Parsed<()> {
        let span = to.span.to(from.span);
        if is_memory(to) && is_memory(from) {
            let help = "load one of them into a register first";
            let diagnostic = Diagnostic::error(span, format!("`{mnemonic}` with two operands in memory"));
            return Err(self.cursor.report(diagnostic.with_help(help)));
        }
        let swaps = matches!(mnemonic, "XCHG" | "XADD" | "CMPXCHG");
        if swaps && matches!(from.kind, OperandKind::Number(_)) {
            let help = format!("put the number into a register first: `MOV EBX,$1`, then `{mnemonic} [x],EBX`");
            let diagnostic = Diagnostic::error(from.span, format!("`{mnemonic}` with a number"));
            return Err(self.cursor.report(diagnostic.with_help(help)));
        }
        if matches!(mnemonic, "XADD" | "CMPXCHG") && is_memory(from) {
            let help = format!("the location comes first: `{mnemonic} [x],EBX`");
            let diagnostic = Diagnostic::error(from.span, format!("`{mnemonic}` from memory"));
            return Err(self.cursor.report(diagnostic.with_help(help)));
        }
        Ok(())
    }

    fn jump_target(&mut self) -> Parsed<Name> {
        self.cursor.name("a label", "a jump names a label of its thread: `JNE L0`, with `L0:` in a cell of the column")
    }

    fn destination(&mut self, mnemonic: &str) -> Parsed<Operand> {
        let operand = self.operand()?;
        if let OperandKind::Number(_) = operand.kind {
            let message = format!("`{mnemonic}` into a number");
            let help = "write Intel syntax, destination first: `MOV [x],$1`, `MOV EAX,[x]`";
            return Err(self.cursor.report(Diagnostic::error(operand.span, message).with_help(help)));
        }
        Ok(operand)
    }

    /// `EAX`, `$1`, `1`, `[x]`, `[RSI]`
    fn operand(&mut self) -> Parsed<Operand> {
        let help = "an operand is a register `EAX`, a number `$1` or a location `[x]`";
        let size = self.cursor.text().to_ascii_uppercase();
        if matches!(size.as_str(), "BYTE" | "WORD" | "DWORD" | "QWORD") {
            self.cursor.bump();
            if self.cursor.text().eq_ignore_ascii_case("PTR") {
                self.cursor.bump();
            }
        }
        let start = self.cursor.current().span;
        let kind = match self.cursor.text() {
            "[" => self.memory()?,
            "$" | "-" => self.number(help)?,
            "(" => {
                let help = "write Intel syntax: a location is `[x]`, and the destination comes first";
                return Err(self.cursor.expected("an operand", help));
            }
            _ if matches!(self.cursor.kind(), TokenKind::Int(_)) => self.number(help)?,
            _ if self.cursor.kind() == TokenKind::Word => self.register_operand()?,
            _ => return Err(self.cursor.expected("an operand", help)),
        };
        Ok(Operand { span: self.cursor.since(start), kind })
    }

    fn number(&mut self, help: &str) -> Parsed<OperandKind> {
        if self.cursor.eat("$") && self.cursor.kind() == TokenKind::Word {
            let help = "addresses as values are not supported; registers get them in the initial state: `0:RSI=x;`";
            return Err(self.cursor.expected("a number", help));
        }
        Ok(OperandKind::Number(self.cursor.integer("a number", help)?.0))
    }

    fn memory(&mut self) -> Parsed<OperandKind> {
        let help = "a location is `[x]`, or `[RSI]` with `0:RSI=x;` in the initial state; offsets are not supported";
        self.cursor.bump();
        let kind = match registers::family(self.cursor.text()) {
            Some(_) => OperandKind::Pointed(self.register()?),
            None => OperandKind::Location(self.cursor.name("a location", help)?),
        };
        self.cursor.expect("]", help)?;
        Ok(kind)
    }

    fn register_operand(&mut self) -> Parsed<OperandKind> {
        let text = self.cursor.text();
        if registers::family(text).is_some() {
            return Ok(OperandKind::Register(self.register()?));
        }
        let help = match text.to_ascii_uppercase().as_str() {
            "AH" | "BH" | "CH" | "DH" => "halves of registers are not supported".to_owned(),
            _ => format!("if it is a location, write `[{}]`", shortened(text)),
        };
        Err(self.cursor.expected("an operand", &help))
    }
}

fn is_memory(operand: &Operand) -> bool {
    matches!(operand.kind, OperandKind::Location(_) | OperandKind::Pointed(_))
}
