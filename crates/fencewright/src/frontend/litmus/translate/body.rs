//! One thread: its registers, labels and rows.

use std::collections::BTreeMap;

use super::flags::{self, Flags};
use super::{Item, ItemKind, Translation};
use crate::frontend::ast::{self, Expr, Name, Stmt, StmtKind, Target};
use crate::frontend::import::names::Names;
use crate::frontend::import::tree::{block, comment, int, item, let_, name, stmt, target, type_of, value_of};
use crate::frontend::litmus::syntax::{Instruction, Operand, OperandKind, Row, RowKind};
use crate::frontend::nearest::nearest;
use crate::numeric::Range;
use crate::source::{Diagnostic, Span};

/// Names that a thread uses besides its registers.
pub(super) struct Helpers {
    /// The operands compared last.
    pub(super) compared: [String; 2],
    /// The old value of a location.
    pub(super) old: String,
}

/// A thread while it is translated.
pub(super) struct Body<'t, 'a> {
    pub(super) translation: &'t Translation<'a>,
    pub(super) thread: usize,
    pub(super) flags: Flags,
    pub(super) helpers: Helpers,
    labels: BTreeMap<&'a str, (String, Span)>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'a> Translation<'a> {
    /// The item of a thread.
    pub(super) fn thread(&mut self, i: usize) -> Item {
        let thread = &self.test.threads[i];
        let mut names = self.names.clone();
        let mut statements = Vec::new();
        for (key, value) in self.registers.range((i, 0)..(i + 1, 0)) {
            // No location is called like a register, so the name is free.
            let text = names.give(&self.register_text(*key));
            statements.push(register(&text, self.range, *value, thread.span));
        }
        let helpers = Helpers { compared: [names.give("cmp_a"), names.give("cmp_b")], old: names.give("old") };
        let flags = flags::of(&thread.rows);
        if flags == Flags::Kept {
            statements.extend(helpers.compared.iter().map(|text| register(text, self.range, 0, thread.span)));
        }
        let n_registers = statements.len();
        let mut body =
            Body { translation: self, thread: i, flags, helpers, labels: BTreeMap::new(), diagnostics: Vec::new() };
        body.find_labels(&thread.rows);
        for at in 0..thread.rows.len() {
            body.row(&thread.rows, at, &mut statements);
        }
        if matches!(thread.rows.last().map(|row| &row.kind), Some(RowKind::Label(_))) {
            statements.push(stmt(StmtKind::Skip, thread.span));
        }
        if let Some(first) = statements.get_mut(n_registers).filter(|_| n_registers > 0) {
            first.trivia.blank_before = true;
        }
        let mut diagnostics = body.diagnostics;
        self.diagnostics.append(&mut diagnostics);
        let name = name(&self.threads[i], thread.span);
        let body = block(statements, thread.span);
        item(ItemKind::Thread(ast::Thread { name, parameters: Vec::new(), any: None, body }), thread.span, true)
    }
}

fn register(text: &str, range: Range, value: i64, span: Span) -> Stmt {
    let_(name(text, span), Some(type_of(range, span)), int(value, span), span)
}

impl<'a> Body<'_, 'a> {
    fn find_labels(&mut self, rows: &'a [Row]) {
        let mut names = Names::default();
        for row in rows {
            let RowKind::Label(label) = &row.kind else { continue };
            if let Some((_, first)) = self.labels.get(label.text.as_str()) {
                let message = format!("label `{}` stands twice in this thread", label.text);
                let diagnostic = Diagnostic::error(label.span, message).and_at(*first, "first here");
                self.diagnostics.push(diagnostic.with_help("give one of them another name"));
            } else {
                self.labels.insert(&label.text, (names.give(&label.text), label.span));
            }
        }
    }

    fn row(&mut self, rows: &[Row], at: usize, out: &mut Vec<Stmt>) {
        let row = &rows[at];
        let start = out.len();
        match &row.kind {
            RowKind::Label(label) => {
                let text = self.labels.get(label.text.as_str()).map_or(&label.text, |it| &it.0);
                let mut it = stmt(StmtKind::Label(name(text, label.span)), row.span);
                if *text != label.text {
                    it.trivia.after = Some(comment(&format!("`{}` in the test", label.text)));
                }
                out.push(it);
            }
            RowKind::Instruction(Instruction::Compare(..)) if self.flags == Flags::Direct => {
                // The jump behind it says what is compared; without a jump nobody asks.
                if !flags::is_before_jump(rows, at) || row.comment.is_some() {
                    out.push(stmt(StmtKind::Skip, row.span));
                }
            }
            RowKind::Instruction(Instruction::JumpIf(op, label)) => {
                if let Some(condition) = self.jump_condition(rows, at, *op) {
                    let jump: Vec<Stmt> = self.goto(label, row.span).into_iter().collect();
                    out.push(crate::frontend::import::tree::if_(condition, jump, row.span));
                }
            }
            RowKind::Instruction(Instruction::Jump(label)) => out.extend(self.goto(label, row.span)),
            RowKind::Instruction(instruction) => self.instruction(instruction, row.span, out),
        }
        if let Some(last) = out.get_mut(start..).and_then(<[Stmt]>::last_mut).filter(|_| row.comment.is_some()) {
            last.trivia.after.clone_from(&row.comment);
        }
    }

    fn goto(&mut self, label: &Name, span: Span) -> Option<Stmt> {
        if let Some((text, _)) = self.labels.get(label.text.as_str()) {
            return Some(stmt(StmtKind::Goto(name(text, label.span)), span));
        }
        let help = match nearest(&label.text, self.labels.keys().copied()) {
            Some(it) => format!("did you mean `{it}`?"),
            None => format!("put `{}:` into a cell of this column", label.text),
        };
        let message = format!("unknown label `{}`", label.text);
        self.diagnostics.push(Diagnostic::error(label.span, message).with_help(help));
        None
    }

    /// A register or location to assign to; nothing for a number.
    pub(super) fn target(&self, it: &Operand) -> Option<Target> {
        let location = |text: &str| self.translation.locations.get(text).map(|it| it.name.clone());
        let text = match &it.kind {
            OperandKind::Register(register) => self.translation.register_text((self.thread, register.family)),
            OperandKind::Location(name) => location(&name.text)?,
            OperandKind::Pointed(register) => {
                let pointed = self.translation.pointers.get(&(self.thread, register.family))?;
                location(&pointed.text)?
            }
            OperandKind::Number(_) => return None,
        };
        Some(target(text, it.span))
    }

    /// The value of an operand.
    pub(super) fn value(&self, it: &Operand) -> Expr {
        match it.kind {
            OperandKind::Number(value) => int(value, it.span),
            OperandKind::Register(_) | OperandKind::Location(_) | OperandKind::Pointed(_) => {
                // What has no target has been reported.
                self.target(it).map_or_else(|| int(0, it.span), |target| value_of(&target))
            }
        }
    }
}
