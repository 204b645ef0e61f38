//! What is shown of the text under the pointer: the declaration of a name, and what a statement does under the model.

use std::collections::BTreeSet;

use fencewright::frontend::ast::{Expr, ExprKind, ItemKind, Name, Stmt, StmtKind};
use fencewright::frontend::names::{Definition, Kind, blocks};
use fencewright::memory::{Buffering, Dialect, Model};
use fencewright::program::{Domain, FenceKind, Order, Template};

use crate::document::Document;

/// The text for what stands at a byte, as Markdown.
pub(crate) fn text(document: &Document, byte: u32, model: Model) -> Option<String> {
    let parts = [
        document.names.at(byte).map(|definition| declaration(document, definition)),
        statement(document, byte).and_then(|statement| doing(document, statement, model)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("\n\n---\n\n"))
}

fn declaration(document: &Document, definition: &Definition) -> String {
    let text = document.source.slice(definition.whole).trim();
    let mut out = format!("```fw\n{text}\n```\n\n{}", what(definition.kind));
    if let Some(values) = values(document, definition) {
        out += &format!("; values: {values}");
    }
    out
}

fn what(kind: Kind) -> &'static str {
    match kind {
        Kind::Constant => "constant; `-D NAME=VALUE` gives it another value",
        Kind::Enum => "names for the integers from 0 on, and the type that has them",
        Kind::EnumValue => "a value of an enum",
        Kind::Shared => "shared memory: a store to it waits in the buffer of its thread, as the model has it",
        Kind::Thread => "thread",
        Kind::Function => "function; calls are inlined",
        Kind::Bound => "a constant here, in each copy another",
        Kind::Register => "register: no other thread sees it",
        Kind::Label => "label of a control point",
    }
}

/// The values that a variable can have, inferred ones included.
fn values(document: &Document, definition: &Definition) -> Option<String> {
    let program = document.program.as_ref()?;
    let name = &definition.name.text;
    let domains: BTreeSet<Domain> = match definition.kind {
        Kind::Shared => {
            let is_it = |location: &&fencewright::program::Location| {
                location.name == *name
                    || location.name.strip_prefix(name.as_str()).is_some_and(|it| it.starts_with('['))
            };
            program.locations().iter().filter(is_it).map(|it| it.domain).collect()
        }
        Kind::Register => {
            let is_owner = |template: &&Template| Some(&template.name) == definition.owner.as_ref();
            let owners = program.templates().iter_enumerated().filter(|(_, it)| is_owner(it));
            let processes = owners.flat_map(|(template, _)| program.instances(template));
            let registers = processes.flat_map(|process| &program.processes()[process].registers);
            let registers = registers.filter(|it| it.name == *name);
            registers.map(|it| it.domain).collect()
        }
        Kind::Enum | Kind::EnumValue => BTreeSet::new(),
        Kind::Constant | Kind::Thread | Kind::Function | Kind::Bound | Kind::Label => BTreeSet::new(),
    };
    let word = |domain: Domain| match domain {
        Domain::Bool => "`false`, `true`".to_owned(),
        Domain::Range(lo, hi) => format!("`{lo}..{hi}`"),
        Domain::Int => "all integers".to_owned(),
    };
    let words: Vec<String> = domains.into_iter().map(word).collect();
    (!words.is_empty()).then(|| words.join(" or "))
}

/// The innermost statement at a byte.
fn statement(document: &Document, byte: u32) -> Option<&Stmt> {
    let bodies = document.file.items.iter().filter_map(|item| match &item.kind {
        ItemKind::Thread(it) => Some(&it.body),
        ItemKind::Function(it) => Some(&it.body),
        ItemKind::Const(_) | ItemKind::Enum(_) | ItemKind::Shared(_) | ItemKind::Forbid(_) => None,
        ItemKind::ConstArray(_) | ItemKind::Predicate(_) | ItemKind::Include(_) | ItemKind::Hang(_) => None,
    });
    let mut found = None;
    let mut todo: Vec<&fencewright::frontend::ast::Block> = bodies.collect();
    while let Some(block) = todo.pop() {
        for statement in block.statements.iter().filter(|it| it.span.start <= byte && byte <= it.span.end) {
            found = Some(statement);
            todo.extend(blocks(&statement.kind));
        }
    }
    found
}

/// What a statement does to memory.
fn doing(document: &Document, statement: &Stmt, model: Model) -> Option<String> {
    let buffering = model.buffering(Dialect::default())?;
    let mut accesses = Accesses { document, loads: Vec::new(), updates: Vec::new(), stored: None };
    let mut parts: Vec<String> = Vec::new();
    let mut stored = None;
    match &statement.kind {
        StmtKind::Let(it) => it.value.iter().for_each(|value| accesses.expr(value)),
        StmtKind::Assign(it) => {
            it.target.index.iter().for_each(|index| accesses.expr(index));
            if it.op.is_some() && document.names.is_shared(&it.target.name) {
                accesses.loads.push(it.target.name.text.clone());
            }
            accesses.expr(&it.value);
            stored = document.names.is_shared(&it.target.name).then(|| it.target.name.text.clone());
        }
        StmtKind::Call(it) => {
            accesses.expr(it);
            stored = accesses.stored.take();
        }
        StmtKind::Assume(it) | StmtKind::Assert(it, _) => accesses.expr(it),
        StmtKind::If(it) => accesses.expr(&it.condition),
        StmtKind::While(condition, _) | StmtKind::DoWhile(_, condition) => accesses.expr(condition),
        StmtKind::Fence(kind) => parts.push(fence(*kind, buffering).to_owned()),
        StmtKind::OrderedFence(order) => parts.push(ordered_fence(*order, buffering).to_owned()),
        StmtKind::Atomic(_) => parts.push(format!("one step against memory; {}", drains(buffering))),
        StmtKind::Loop(_) | StmtKind::For(..) | StmtKind::Choose(_) | StmtKind::Block(_) | StmtKind::Break => {}
        StmtKind::Continue | StmtKind::Return(_) | StmtKind::Goto(_) | StmtKind::Label(_) | StmtKind::Skip => {}
    }
    if !accesses.loads.is_empty() {
        parts.push(format!("**loads** `{}`: {}", accesses.loads.join("`, `"), load(buffering)));
    }
    if let Some(name) = stored {
        parts.push(format!("**stores** to `{name}`: {}", store(buffering)));
    }
    if !accesses.updates.is_empty() {
        parts.push(format!("**atomically updates** `{}`; {}", accesses.updates.join("`, `"), drains(buffering)));
    }
    (!parts.is_empty()).then(|| format!("under {model}:\n\n- {}", parts.join("\n- ")))
}

fn load(buffering: Buffering) -> &'static str {
    match buffering {
        Buffering::None => "from memory",
        Buffering::Fifo | Buffering::PerLocation(_) => {
            "from the newest store to it in the thread's own buffer, or from memory, where stores of other threads may \
             still be missing"
        }
    }
}

fn store(buffering: Buffering) -> &'static str {
    match buffering {
        Buffering::None => "at once",
        Buffering::Fifo => "into the thread's buffer; it reaches memory later, after the stores before it",
        Buffering::PerLocation(_) => {
            "into the thread's buffer of that location; it reaches memory later, perhaps before earlier stores to \
             other locations"
        }
    }
}

fn drains(buffering: Buffering) -> &'static str {
    match buffering {
        Buffering::None => "stores do not wait",
        Buffering::Fifo => "waits until the thread's buffer is empty",
        Buffering::PerLocation(_) => {
            "waits until no store of the thread to what it changes is in a buffer (a block: no store at all)"
        }
    }
}

fn fence(kind: FenceKind, buffering: Buffering) -> &'static str {
    match (kind, buffering) {
        (_, Buffering::None) => "does nothing: stores do not wait",
        (FenceKind::Full, Buffering::Fifo | Buffering::PerLocation(_)) => {
            "waits until all stores of the thread have reached memory"
        }
        (FenceKind::StoreStore, Buffering::Fifo) => "does nothing: stores reach memory in order anyway",
        (FenceKind::StoreStore, Buffering::PerLocation(_)) => {
            "keeps stores before it from being overtaken by stores behind it; does not wait"
        }
    }
}

/// A fence of the language: what a compiler makes of it.
fn ordered_fence(order: Order, buffering: Buffering) -> &'static str {
    match order {
        Order::SeqCst => fence(FenceKind::Full, buffering),
        Order::Release | Order::AcqRel => fence(FenceKind::StoreStore, buffering),
        Order::Acquire | Order::Relaxed | Order::Plain => "takes no instruction: loads are not reordered",
    }
}

/// The accesses of an expression, in order.
struct Accesses<'a> {
    document: &'a Document,
    loads: Vec<String>,
    updates: Vec<String>,
    /// What `store(x, …)` writes.
    stored: Option<String>,
}

impl Accesses<'_> {
    fn load(&mut self, name: &Name) {
        if self.document.names.is_shared(name) {
            self.loads.push(name.text.clone());
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.load(name),
            ExprKind::Index(name, index) => {
                index.iter().for_each(|it| self.expr(it));
                self.load(name);
            }
            ExprKind::Unary(_, operand) | ExprKind::Paren(operand) => self.expr(operand),
            ExprKind::Binary(_, left, right) | ExprKind::Shift(_, left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Conditional(it) => {
                [&it.condition, &it.then, &it.otherwise].into_iter().for_each(|it| self.expr(it));
            }
            ExprKind::Call(name, arguments) => self.call(name, arguments),
            ExprKind::Int(_)
            | ExprKind::Based(..)
            | ExprKind::Bool(_)
            | ExprKind::Any(_)
            | ExprKind::At(..)
            | ExprKind::Count(..)
            | ExprKind::Member(..) => {}
        }
    }

    /// A built-in update changes its first argument; a function is inlined where it is called.
    fn call(&mut self, name: &Name, arguments: &[Expr]) {
        let is_function = self.document.names.at(name.span.start).is_some();
        let updated = arguments.first().and_then(|it| match &it.kind {
            ExprKind::Name(name) | ExprKind::Index(name, _) => Some(name),
            ExprKind::Int(_) | ExprKind::Based(..) | ExprKind::Bool(_) | ExprKind::Any(_) | ExprKind::Unary(..) => None,
            ExprKind::Binary(..)
            | ExprKind::Shift(..)
            | ExprKind::Conditional(_)
            | ExprKind::Paren(_)
            | ExprKind::Call(..)
            | ExprKind::At(..)
            | ExprKind::Count(..) => None,
            ExprKind::Member(..) => None,
        });
        let is_update = !["min", "max"].contains(&name.text.as_str());
        match updated.filter(|it| !is_function && is_update && self.document.names.is_shared(it)) {
            Some(target) => {
                match name.text.as_str() {
                    "load" => self.loads.push(target.text.clone()),
                    "store" => self.stored = Some(target.text.clone()),
                    _ => self.updates.push(target.text.clone()),
                }
                arguments[1..].iter().for_each(|argument| self.expr(argument));
            }
            None => arguments.iter().for_each(|argument| self.expr(argument)),
        }
    }
}
