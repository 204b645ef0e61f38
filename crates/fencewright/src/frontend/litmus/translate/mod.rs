//! From what a litmus test says to the surface tree.

mod asked;
mod body;
mod flags;
mod instructions;
mod ranges;

use std::collections::{BTreeMap, BTreeSet};

use super::header::{Architecture, Header};
use super::registers;
use super::syntax::{
    self, Condition, InitialValue, Instruction, Operand, OperandKind, Place, Quantifier, RowKind, Test,
};
use crate::frontend::asked::Asked;
use crate::frontend::ast::{
    self, AtEnd, Expr, ExprKind, Forbid, Initial, Item, ItemKind, Name, Shared, SharedVariable,
};
use crate::frontend::import::lexer::MAX_ERRORS;
use crate::frontend::import::names::Names;
use crate::frontend::import::tree::{binary, comment, expr, int, item, name, not, thread_ref, type_of, var};
use crate::frontend::nearest::nearest;
use crate::numeric::Range;
use crate::program::BinaryOp;
use crate::source::{Diagnostic, Source, Span};

/// Translates a test that could be read.
pub(super) fn translate(test: &Test, architecture: Architecture) -> (ast::File, Vec<Diagnostic>) {
    let mut translation = Translation::new(test, architecture);
    translation.collect();
    let items = translation.items();
    let mut diagnostics = translation.diagnostics;
    diagnostics.truncate(MAX_ERRORS);
    (ast::File { items, end_comments: Vec::new() }, diagnostics)
}

/// What a test that could be read asks about final states.
pub(super) fn asked(test: &Test, header: &Header, source: &Source) -> Option<Asked> {
    let mut translation = Translation::new(test, header.architecture);
    translation.collect();
    translation.asked(source, &header.name)
}

/// A shared location.
struct Location {
    /// Its name in the tree.
    name: String,
    initial: i64,
    /// Where it is first named.
    span: Span,
}

/// A register: thread and family.
type RegisterKey = (usize, usize);

struct Translation<'a> {
    test: &'a Test,
    architecture: Architecture,
    names: Names,
    /// The names of the threads.
    threads: Vec<String>,
    locations: BTreeMap<&'a str, Location>,
    /// Registers that hold the address of a location.
    pointers: BTreeMap<RegisterKey, &'a Name>,
    /// Registers that hold numbers, with the first.
    registers: BTreeMap<RegisterKey, i64>,
    /// Registers whose value matters to an instruction or the outcome.
    read: BTreeSet<RegisterKey>,
    /// What locations and registers may hold.
    range: Range,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Translation<'a> {
    fn new(test: &'a Test, architecture: Architecture) -> Self {
        let mut names = Names::default();
        let threads = (0..test.threads.len()).map(|i| names.give(&format!("P{i}"))).collect();
        Self {
            test,
            architecture,
            names,
            threads,
            locations: BTreeMap::new(),
            pointers: BTreeMap::new(),
            registers: BTreeMap::new(),
            read: BTreeSet::new(),
            range: ranges::infer(test),
            diagnostics: Vec::new(),
        }
    }

    fn error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message).with_help(help));
    }

    /// Finds all locations and registers.
    fn collect(&mut self) {
        let test = self.test;
        for it in &test.initial {
            self.initial(it);
        }
        for it in test.initial.iter().filter(|it| it.value.is_none()) {
            self.declared(&it.place);
        }
        for (i, thread) in test.threads.iter().enumerate() {
            for row in &thread.rows {
                let RowKind::Instruction(instruction) = &row.kind else { continue };
                if let Instruction::CompareExchange(..) = instruction {
                    self.registers.entry((i, registers::ACCUMULATOR)).or_insert(0);
                    self.read.insert((i, registers::ACCUMULATOR));
                }
                self.read.extend(registers_read(instruction).map(|family| (i, family)));
                operands(instruction).into_iter().for_each(|it| self.operand(i, it));
            }
        }
    }

    /// An entry of the initial state that has a value.
    fn initial(&mut self, it: &'a syntax::Initial) {
        match (&it.place, &it.value) {
            (_, None) => {}
            (Place::Location(name), Some(InitialValue::Number(value))) => self.location(name, Some(*value)),
            (Place::Location(name), Some(InitialValue::Address(_))) => {
                let message = format!("`{}` holds an address", name.text);
                self.error(it.span, message, "only registers hold addresses here: `0:RSI=x;`");
            }
            (Place::Register(thread, register), Some(InitialValue::Number(value))) => {
                if self.check_thread(*thread, register.span) {
                    self.registers.insert((*thread, register.family), *value);
                }
            }
            (Place::Register(thread, register), Some(InitialValue::Address(name))) => {
                if self.check_thread(*thread, register.span) {
                    self.location(name, None);
                    self.pointers.insert((*thread, register.family), name);
                }
            }
        }
    }

    /// An entry that only says what there is.
    fn declared(&mut self, place: &'a Place) {
        match place {
            Place::Location(name) => self.location(name, None),
            Place::Register(thread, register) => {
                let key = (*thread, register.family);
                if self.check_thread(*thread, register.span) && !self.pointers.contains_key(&key) {
                    self.registers.entry(key).or_insert(0);
                }
            }
        }
    }

    fn operand(&mut self, thread: usize, it: &'a Operand) {
        match &it.kind {
            OperandKind::Location(name) => self.location(name, None),
            OperandKind::Register(register) => {
                let key = (thread, register.family);
                match self.pointers.get(&key).copied() {
                    Some(name) => {
                        let message = format!("register that holds the address of `{}` used as a number", name.text);
                        let help = format!("it can only be used as `[{}]`", self.register_name(register.family));
                        self.error(it.span, message, help);
                    }
                    None => drop(self.registers.entry(key).or_insert(0)),
                }
            }
            OperandKind::Pointed(register) => {
                if !self.pointers.contains_key(&(thread, register.family)) {
                    let text = self.register_name(register.family);
                    let help = format!("say which location in the initial state: `{thread}:{text}=x;`");
                    self.error(it.span, format!("`{text}` does not hold an address"), help);
                }
            }
            OperandKind::Number(_) => {}
        }
    }

    fn location(&mut self, it: &'a Name, value: Option<i64>) {
        if let (Some(_), Some(known)) = (value, self.locations.get(it.text.as_str())) {
            let first = known.span;
            let message = format!("`{}` is given two initial values", it.text);
            let diagnostic = Diagnostic::error(it.span, message).and_at(first, "first named here");
            self.diagnostics.push(diagnostic.with_help("remove one of them"));
            return;
        }
        let names = &mut self.names;
        let new = || Location { name: names.give(&it.text), initial: value.unwrap_or(0), span: it.span };
        self.locations.entry(&it.text).or_insert_with(new);
    }

    fn check_thread(&mut self, thread: usize, span: Span) -> bool {
        let n_threads = self.test.threads.len();
        if thread >= n_threads {
            let help = match n_threads {
                1 => "the only thread is number 0".to_owned(),
                n => format!("the threads are numbered 0 to {}", n - 1),
            };
            self.error(span, format!("there is no thread {thread}"), help);
        }
        thread < n_threads
    }

    fn register_name(&self, family: usize) -> &'static str {
        registers::name(family, self.architecture)
    }

    /// The name of a register in the tree; one that is only ever written starts with `_`, so that nobody is warned.
    fn register_text(&self, key: RegisterKey) -> String {
        let prefix = if self.read.contains(&key) { "" } else { "_" };
        format!("{prefix}{}", self.register_name(key.1))
    }

    fn items(&mut self) -> Vec<Item> {
        let condition = self.property();
        let mut items = self.shared();
        for i in 0..self.test.threads.len() {
            let mut thread = self.thread(i);
            if i == 0 {
                thread.trivia.before.clone_from(&self.test.comments);
            }
            if let Some(first) = thread.trivia.before.first_mut() {
                first.blank_before = true;
                thread.trivia.blank_before = false;
            }
            items.push(thread);
        }
        let mut property = condition;
        property.trivia.before.clone_from(&self.test.end_comments);
        if let Some(first) = property.trivia.before.first_mut() {
            first.blank_before = true;
            property.trivia.blank_before = false;
        }
        items.push(property);
        if let Some(first) = items.first_mut() {
            first.trivia.blank_before = first.trivia.before.is_empty();
            first.trivia.before.splice(0..0, self.test.head.iter().cloned());
        }
        items
    }

    /// Locations with the same first value are declared together, in the order of the text.
    fn shared(&self) -> Vec<Item> {
        let mut groups: Vec<(i64, Span, Vec<SharedVariable>)> = Vec::new();
        let mut renamed: Vec<(i64, ast::Comment)> = Vec::new();
        let mut all: Vec<(&&str, &Location)> = self.locations.iter().collect();
        all.sort_by_key(|it| it.1.span.start);
        for (text, location) in all {
            let variable = SharedVariable { name: name(&location.name, location.span), sizes: Vec::new() };
            match groups.iter_mut().find(|group| group.0 == location.initial) {
                Some(group) => group.2.push(variable),
                None => groups.push((location.initial, location.span, vec![variable])),
            }
            if **text != location.name {
                let note = format!("`{}` is `{text}` in the test.", location.name);
                renamed.push((location.initial, comment(&note)));
            }
        }
        let declare = |(initial, span, variables): (i64, Span, Vec<SharedVariable>)| {
            let ty = Some(type_of(self.range, span));
            let shared = Shared { is_plain: false, variables, ty, initial: Some(Initial::All(int(initial, span))) };
            let mut item = item(ItemKind::Shared(shared), span, false);
            item.trivia.before = renamed.iter().filter(|it| it.0 == initial).map(|it| it.1.clone()).collect();
            item
        };
        groups.into_iter().map(declare).collect()
    }

    /// `forbid … at end;`
    fn property(&mut self) -> Item {
        let test = self.test;
        for place in &test.locations {
            self.place(place);
        }
        let (span, condition) = match &test.property {
            None => (Span::default(), expr(ExprKind::Bool(false), Span::default())),
            Some(property) => {
                self.note_reads(&property.condition);
                let condition = self.condition(&property.condition);
                let condition = match property.quantifier {
                    Quantifier::Exists | Quantifier::NotExists => condition,
                    Quantifier::Forall => not(condition),
                };
                (property.span, condition)
            }
        };
        let at_end = Some(AtEnd { span, of: Vec::new() });
        item(ItemKind::Forbid(Forbid { name: None, condition, at_end, binders: Vec::new() }), span, true)
    }

    fn note_reads(&mut self, it: &Condition) {
        match it {
            Condition::Is(Place::Register(thread, register), ..) => drop(self.read.insert((*thread, register.family))),
            Condition::Is(Place::Location(_), ..) | Condition::True(..) => {}
            Condition::Not(inner, _) => self.note_reads(inner),
            Condition::And(left, right) | Condition::Or(left, right) => {
                self.note_reads(left);
                self.note_reads(right);
            }
        }
    }

    fn condition(&mut self, it: &Condition) -> Expr {
        match it {
            Condition::True(value, span) => expr(ExprKind::Bool(*value), *span),
            Condition::Is(place, value, span) => {
                let place = self.place(place);
                Expr { span: *span, ..binary(BinaryOp::Eq, place, int(*value, *span)) }
            }
            Condition::Not(inner, span) => Expr { span: *span, ..not(self.condition(inner)) },
            Condition::And(left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                binary(BinaryOp::And, left, right)
            }
            Condition::Or(left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                binary(BinaryOp::Or, left, right)
            }
        }
    }

    /// A location or register of the outcome.
    fn place(&mut self, it: &Place) -> Expr {
        match it {
            Place::Location(name) => match self.locations.get(name.text.as_str()) {
                Some(location) => var(&location.name, name.span),
                None => {
                    let help = match nearest(&name.text, self.locations.keys().copied()) {
                        Some(it) => format!("did you mean `{it}`?"),
                        None => "name a location of the initial state or of the instructions".to_owned(),
                    };
                    self.error(name.span, format!("unknown location `{}`", name.text), help);
                    int(0, name.span)
                }
            },
            Place::Register(thread, register) => {
                let (span, text) = (register.span, self.register_name(register.family));
                if !self.check_thread(*thread, span) {
                    return int(0, span);
                }
                let key = (*thread, register.family);
                if self.pointers.contains_key(&key) {
                    let message = format!("`{thread}:{text}` holds an address");
                    self.error(span, message, "a condition is about numbers: name the location instead");
                } else if !self.registers.contains_key(&key) {
                    let help = "name a register that an instruction or the initial state sets";
                    let message = format!("thread {thread} does not use `{text}`, so it is 0");
                    self.diagnostics.push(Diagnostic::warning(span, message).with_help(help));
                    self.registers.insert(key, 0);
                }
                expr(
                    ExprKind::Member(
                        thread_ref(&self.threads[*thread], None, span),
                        name(self.register_text(key), span),
                        Vec::new(),
                    ),
                    span,
                )
            }
        }
    }
}

/// The registers whose old value an instruction needs.
fn registers_read(it: &Instruction) -> impl Iterator<Item = usize> {
    let mut read = operands(it);
    if let Instruction::Move(..) = it {
        // The destination is only written.
        read.remove(0);
    }
    read.into_iter().filter_map(|it| match &it.kind {
        OperandKind::Register(register) => Some(register.family),
        OperandKind::Number(_) | OperandKind::Location(_) | OperandKind::Pointed(_) => None,
    })
}

/// The operands of an instruction.
fn operands(it: &Instruction) -> Vec<&Operand> {
    match it {
        Instruction::Move(a, b)
        | Instruction::Compute(_, _, a, b)
        | Instruction::Exchange(a, b)
        | Instruction::ExchangeAdd(_, a, b)
        | Instruction::CompareExchange(_, a, b)
        | Instruction::Compare(a, b) => vec![a, b],
        Instruction::JumpIf(..)
        | Instruction::Jump(_)
        | Instruction::Mfence
        | Instruction::Sfence
        | Instruction::Lfence
        | Instruction::Nop => Vec::new(),
    }
}
