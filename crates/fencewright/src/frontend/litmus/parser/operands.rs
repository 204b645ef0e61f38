//! What instructions work on, in both syntaxes.
//!
//! ```text
//!   Intel   MOV [x],$1      MOV EAX,[x]      destination first, locations in brackets
//!   AT&T    movq $1,(x)     movq (x),%rax    destination last, locations in parentheses, `%` before registers
//! ```
//!
//! Each cell says by its signs which it is, so a test may have both; a cell that has signs of both is refused, since
//! the order of its operands cannot be told.

use super::Parser;
use crate::frontend::import::cursor::{Parsed, shortened};
use crate::frontend::import::lexer::TokenKind;
use crate::frontend::litmus::registers;
use crate::frontend::litmus::syntax::{Operand, OperandKind};
use crate::source::Diagnostic;

/// How the operands of a cell are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Intel,
    Att,
}

impl Syntax {
    /// `mnemonic a,b` with a location first, to be shown.
    pub(super) fn into_memory(self, mnemonic: &str) -> String {
        match self {
            Self::Intel => format!("{mnemonic} [x],EBX"),
            Self::Att => format!("{} %ebx,(x)", mnemonic.to_ascii_lowercase()),
        }
    }

    /// How a number gets into a register, to be shown.
    pub(super) fn number_to_register(self) -> &'static str {
        match self {
            Self::Intel => "MOV EBX,$1",
            Self::Att => "mov $1,%ebx",
        }
    }
}

impl Parser<'_> {
    /// How the cell goes on from here.
    pub(super) fn syntax(&self) -> Syntax {
        let rest = (0..).map(|n| self.cursor.text_at(n)).take_while(|text| !matches!(*text, "" | "|" | ";"));
        if rest.into_iter().any(|text| matches!(text, "%" | "(")) { Syntax::Att } else { Syntax::Intel }
    }

    /// The two operands of an instruction, the destination first.
    pub(super) fn operand_pair(&mut self, mnemonic: &str, syntax: Syntax) -> Parsed<(Operand, Operand)> {
        let first = self.operand(syntax)?;
        self.cursor.expect(",", &format!("`{mnemonic}` has two operands: `{mnemonic} a,b`"))?;
        let second = self.operand(syntax)?;
        Ok(match syntax {
            Syntax::Intel => (first, second),
            Syntax::Att => (second, first),
        })
    }

    pub(super) fn operand(&mut self, syntax: Syntax) -> Parsed<Operand> {
        match syntax {
            Syntax::Intel => self.intel_operand(),
            Syntax::Att => self.att_operand(),
        }
    }

    /// `EAX`, `$1`, `1`, `[x]`, `[RSI]`
    fn intel_operand(&mut self) -> Parsed<Operand> {
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
            "[" => self.bracketed()?,
            "$" | "-" => self.number(help)?,
            _ if matches!(self.cursor.kind(), TokenKind::Int(_)) => self.number(help)?,
            _ if self.cursor.kind() == TokenKind::Word => self.plain_register()?,
            _ => return Err(self.cursor.expected("an operand", help)),
        };
        Ok(Operand { span: self.cursor.since(start), kind })
    }

    /// `%rax`, `$1`, `(x)`, `(%rsi)`, `0(%rsi)`, `x(%rip)`
    fn att_operand(&mut self) -> Parsed<Operand> {
        let help = "in AT&T syntax an operand is a register `%rax`, a number `$1` or a location `(x)`";
        let start = self.cursor.current().span;
        let kind = match (self.cursor.text(), self.cursor.text_at(1)) {
            ("%", _) => {
                self.cursor.bump();
                OperandKind::Register(self.register()?)
            }
            ("$", _) => self.number(help)?,
            ("(", _) => self.in_parentheses()?,
            ("0", "(") => {
                self.cursor.bump();
                self.in_parentheses()?
            }
            ("[", _) => {
                let message = "`[` beside `%` or `(`";
                let help = "a cell is in Intel syntax, `MOV EAX,[x]`, or in AT&T syntax, `mov (x),%eax`: they have \
                            another order of operands";
                return Err(self.cursor.report(Diagnostic::error(start, message).with_help(help)));
            }
            (_, "(") if self.cursor.kind() == TokenKind::Word => self.relative()?,
            _ => return Err(self.cursor.expected("an operand", help)),
        };
        Ok(Operand { span: self.cursor.since(start), kind })
    }

    /// `x(%rip)`
    fn relative(&mut self) -> Parsed<OperandKind> {
        let help = "a location is `(x)` or `x(%rip)`; offsets are not supported";
        let name = self.cursor.name("a location", help)?;
        self.cursor.bump();
        self.cursor.expect("%", help)?;
        if !self.cursor.text().eq_ignore_ascii_case("rip") {
            return Err(self.cursor.expected("`rip`", help));
        }
        self.cursor.bump();
        self.cursor.expect(")", help)?;
        Ok(OperandKind::Location(name))
    }

    fn number(&mut self, help: &str) -> Parsed<OperandKind> {
        if self.cursor.eat("$") && self.cursor.kind() == TokenKind::Word {
            let help = "addresses as values are not supported; registers get them in the initial state: `0:RSI=x;`";
            return Err(self.cursor.expected("a number", help));
        }
        Ok(OperandKind::Number(self.cursor.integer("a number", help)?.0))
    }

    /// `[x]`, `[RSI]`
    fn bracketed(&mut self) -> Parsed<OperandKind> {
        let help = "a location is `[x]`, or `[RSI]` with `0:RSI=x;` in the initial state; offsets are not supported";
        self.cursor.bump();
        let kind = match registers::family(self.cursor.text()) {
            Some(_) => OperandKind::Pointed(self.register()?),
            None => OperandKind::Location(self.cursor.name("a location", help)?),
        };
        self.cursor.expect("]", help)?;
        Ok(kind)
    }

    /// `(x)`, `(%rsi)`
    fn in_parentheses(&mut self) -> Parsed<OperandKind> {
        let help = "a location is `(x)`, or `(%rsi)` with `0:rsi=x;` in the initial state; offsets are not supported";
        self.cursor.bump();
        let kind = if self.cursor.eat("%") {
            OperandKind::Pointed(self.register()?)
        } else if registers::family(self.cursor.text()).is_some() {
            let help = format!("in AT&T syntax registers have a `%`: `(%{})`", self.cursor.text());
            return Err(self.cursor.expected("a location", &help));
        } else {
            OperandKind::Location(self.cursor.name("a location", help)?)
        };
        self.cursor.expect(")", help)?;
        Ok(kind)
    }

    fn plain_register(&mut self) -> Parsed<OperandKind> {
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
