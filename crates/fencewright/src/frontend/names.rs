//! Which declaration each name of a file means, for editors.
//!
//! The rules are those of lowering: a name declared by `let` is known to the end of its block, labels in their whole
//! thread or function, parameters and binders in what they govern, everything else in the whole file. Works on files
//! with mistakes in them, as far as they could be read; a name that means nothing is left out.

use crate::frontend::ast::{
    Binder, Block, Else, Expr, ExprKind, File, Forbid, Initial, ItemKind, Name, Parameter, Range, Stmt, StmtKind,
    ThreadRef, Type, TypeKind,
};
use crate::source::Span;
use crate::watch::heed;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `const N = 2;`
    Constant,
    /// `enum State { … }`
    Enum,
    /// A value of an `enum`.
    EnumValue,
    /// `shared x;`, or a parameter that is another name for one.
    Shared,
    /// A thread or family.
    Thread,
    /// A function.
    Function,
    /// A parameter of a thread family, or what a `for` binds: a constant where it is known.
    Bound,
    /// `let r;`, or a parameter of a function.
    Register,
    /// `l:`
    Label,
}

/// A declaration.
#[derive(Clone, Debug)]
pub struct Definition {
    /// What is declared.
    pub kind: Kind,
    /// The name.
    pub name: Name,
    /// The declaration with all that belongs to it, for threads and functions only their heads.
    pub whole: Span,
    /// For registers and labels, the thread or function they belong to.
    pub owner: Option<String>,
}

/// The names of a file.
#[derive(Debug, Default)]
pub struct Names {
    definitions: Vec<Definition>,
    /// Where a definition is named, itself included.
    mentions: Vec<(Span, usize)>,
}

impl Names {
    /// Looks up all names of a file.
    pub fn new(file: &File) -> Self {
        let mut walk = Walk { names: Self::default(), scope: Vec::new(), owner: None };
        walk.declare_items(file);
        // Properties may come before the threads whose registers they name.
        let is_property =
            |kind: &ItemKind| matches!(kind, ItemKind::Forbid(_) | ItemKind::Hang(_) | ItemKind::Predicate(_));
        let (properties, others): (Vec<_>, Vec<_>) = file.items.iter().partition(|item| is_property(&item.kind));
        others.into_iter().chain(properties).for_each(|item| walk.item(&item.kind, item.span));
        walk.names
    }

    /// The declaration of the name at a byte.
    pub fn at(&self, byte: u32) -> Option<&Definition> {
        let is_here = |span: &Span| span.start <= byte && byte <= span.end;
        let (_, definition) = self.mentions.iter().find(|(span, _)| is_here(span))?;
        Some(&self.definitions[*definition])
    }

    /// Whether the name at a place stands for shared memory.
    pub fn is_shared(&self, name: &Name) -> bool {
        self.at(name.span.start).is_some_and(|it| it.kind == Kind::Shared)
    }

    /// Every place that names what is named at a byte.
    pub fn mentions(&self, byte: u32) -> Vec<Span> {
        let is_here = |span: &Span| span.start <= byte && byte <= span.end;
        let Some((_, definition)) = self.mentions.iter().find(|(span, _)| is_here(span)) else { return Vec::new() };
        self.mentions.iter().filter(|(_, other)| other == definition).map(|(span, _)| *span).collect()
    }
}

struct Walk {
    names: Names,
    /// What is known here, the innermost last.
    scope: Vec<usize>,
    owner: Option<String>,
}

impl Walk {
    fn define(&mut self, kind: Kind, name: &Name, whole: Span) {
        let id = self.names.definitions.len();
        let owner = self.owner.clone();
        self.names.definitions.push(Definition { kind, name: name.clone(), whole, owner });
        self.names.mentions.push((name.span, id));
        self.scope.push(id);
    }

    /// A name that is not a label.
    fn mention(&mut self, name: &Name) {
        let definitions = &self.names.definitions;
        let is_it = |&&id: &&usize| definitions[id].name.text == name.text && definitions[id].kind != Kind::Label;
        if let Some(&id) = self.scope.iter().rev().find(is_it) {
            self.names.mentions.push((name.span, id));
        }
    }

    /// A label or register of a thread or function.
    fn mention_of(&mut self, owner: &str, kind: Kind, name: &Name) {
        let is_it =
            |it: &Definition| it.kind == kind && it.name.text == name.text && it.owner.as_deref() == Some(owner);
        if let Some(id) = self.names.definitions.iter().position(is_it) {
            self.names.mentions.push((name.span, id));
        }
    }

    /// What is known in the whole file.
    fn declare_items(&mut self, file: &File) {
        for item in &file.items {
            match &item.kind {
                ItemKind::Const(it) => self.define(Kind::Constant, &it.name, item.span),
                ItemKind::ConstArray(it) => self.define(Kind::Constant, &it.name, item.span),
                ItemKind::Enum(it) => {
                    self.define(Kind::Enum, &it.name, item.span);
                    it.values.iter().for_each(|value| self.define(Kind::EnumValue, value, item.span));
                }
                ItemKind::Shared(it) => {
                    it.variables.iter().for_each(|variable| self.define(Kind::Shared, &variable.name, item.span));
                }
                ItemKind::Thread(it) => self.define(Kind::Thread, &it.name, head(item.span, it.body.span)),
                ItemKind::Function(it) => self.define(Kind::Function, &it.name, head(item.span, it.body.span)),
                ItemKind::Forbid(_) | ItemKind::Hang(_) | ItemKind::Predicate(_) | ItemKind::Include(_) => {}
            }
        }
        // A `goto` may come before its label.
        for item in &file.items {
            let (name, body) = match &item.kind {
                ItemKind::Thread(it) => (&it.name, &it.body),
                ItemKind::Function(it) => (&it.name, &it.body),
                ItemKind::Const(_) | ItemKind::Enum(_) | ItemKind::Shared(_) | ItemKind::Forbid(_) => continue,
                ItemKind::ConstArray(_) | ItemKind::Predicate(_) | ItemKind::Include(_) | ItemKind::Hang(_) => continue,
            };
            let known = self.scope.len();
            self.owner = Some(name.text.clone());
            self.labels(body);
            self.owner = None;
            self.scope.truncate(known);
        }
    }

    fn labels(&mut self, block: &Block) {
        for statement in &block.statements {
            if let StmtKind::Label(name) = &statement.kind {
                self.define(Kind::Label, name, statement.span);
            }
            blocks(&statement.kind).into_iter().for_each(|block| self.labels(block));
        }
    }

    fn item(&mut self, kind: &ItemKind, span: Span) {
        let known = self.scope.len();
        match kind {
            ItemKind::Const(it) => self.expr(&it.value),
            ItemKind::ConstArray(it) => it.sizes.iter().chain(&it.values).for_each(|it| self.expr(it)),
            ItemKind::Shared(it) => {
                it.variables.iter().flat_map(|variable| &variable.sizes).for_each(|size| self.expr(size));
                it.ty.iter().for_each(|ty| self.ty(ty));
                match &it.initial {
                    Some(Initial::All(value)) => self.expr(value),
                    Some(Initial::Each(values, _)) => values.iter().for_each(|value| self.expr(value)),
                    None => {}
                }
            }
            ItemKind::Thread(it) => {
                self.owner = Some(it.name.text.clone());
                for parameter in &it.parameters {
                    self.range(&parameter.range);
                    self.define(Kind::Bound, &parameter.name, head(span, it.body.span));
                }
                self.block(&it.body);
            }
            ItemKind::Function(it) => {
                self.owner = Some(it.name.text.clone());
                for parameter in &it.parameters {
                    match parameter {
                        Parameter::Value(name, ty) => {
                            ty.iter().for_each(|ty| self.ty(ty));
                            self.define(Kind::Register, name, head(span, it.body.span));
                        }
                        Parameter::Shared(name) => self.define(Kind::Shared, name, head(span, it.body.span)),
                    }
                }
                self.block(&it.body);
            }
            ItemKind::Forbid(it) => self.forbid(it),
            ItemKind::Predicate(it) => self.expr(it),
            ItemKind::Hang(_) | ItemKind::Include(_) | ItemKind::Enum(_) => {}
        }
        self.owner = None;
        self.scope.truncate(known);
    }

    fn forbid(&mut self, it: &Forbid) {
        it.binders.iter().for_each(|binder| self.binder(binder));
        self.expr(&it.condition);
        it.at_end.iter().flat_map(|at_end| &at_end.of).for_each(|thread| self.thread(thread));
    }

    fn binder(&mut self, binder: &Binder) {
        self.range(&binder.range);
        self.define(Kind::Bound, &binder.name, binder.name.span);
    }

    fn thread(&mut self, thread: &ThreadRef) {
        self.mention(&thread.name);
        thread.arguments.iter().for_each(|argument| self.expr(argument));
    }

    fn range(&mut self, range: &Range) {
        self.expr(&range.lo);
        self.expr(&range.hi);
    }

    fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Range(range) => self.range(range),
            TypeKind::Named(name) => self.mention(name),
            TypeKind::Bool | TypeKind::Int => {}
        }
    }

    fn block(&mut self, block: &Block) {
        let known = self.scope.len();
        block.statements.iter().for_each(|statement| self.statement(statement));
        self.scope.truncate(known);
    }

    fn statement(&mut self, statement: &Stmt) {
        heed(2);
        match &statement.kind {
            StmtKind::Let(it) => {
                it.ty.iter().for_each(|ty| self.ty(ty));
                it.value.iter().for_each(|value| self.expr(value));
                self.define(Kind::Register, &it.name, statement.span);
            }
            StmtKind::Assign(it) => {
                self.mention(&it.target.name);
                it.target.index.iter().for_each(|index| self.expr(index));
                self.expr(&it.value);
            }
            StmtKind::Call(it) | StmtKind::Assume(it) | StmtKind::Assert(it, _) => self.expr(it),
            StmtKind::If(it) => {
                self.expr(&it.condition);
                self.block(&it.then);
                match &it.otherwise {
                    Some(Else::Block(block)) => self.block(block),
                    Some(Else::If(next)) => self.statement(next),
                    None => {}
                }
            }
            StmtKind::While(condition, body) | StmtKind::DoWhile(body, condition) => {
                self.expr(condition);
                self.block(body);
            }
            StmtKind::For(binder, body) => {
                let known = self.scope.len();
                self.binder(binder);
                self.block(body);
                self.scope.truncate(known);
            }
            StmtKind::Loop(body) | StmtKind::Atomic(body) | StmtKind::Block(body) => self.block(body),
            StmtKind::Choose(branches) => branches.iter().for_each(|branch| self.block(branch)),
            StmtKind::Return(value) => value.iter().for_each(|value| self.expr(value)),
            StmtKind::Goto(name) => {
                let owner = self.owner.clone().unwrap_or_default();
                self.mention_of(&owner, Kind::Label, name);
            }
            StmtKind::Label(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Skip => {}
            StmtKind::Fence(_) | StmtKind::OrderedFence(_) => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Based(..) | ExprKind::Bool(_) => {}
            ExprKind::Any(range) => range.iter().for_each(|range| self.range(range)),
            ExprKind::Name(name) => self.mention(name),
            ExprKind::Index(name, index) => {
                self.mention(name);
                index.iter().for_each(|index| self.expr(index));
            }
            ExprKind::Unary(_, operand) | ExprKind::Paren(operand) => self.expr(operand),
            ExprKind::Binary(_, left, right) | ExprKind::Shift(_, left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Conditional(it) => {
                [&it.condition, &it.then, &it.otherwise].into_iter().for_each(|it| self.expr(it));
            }
            ExprKind::Call(name, arguments) => {
                self.mention(name);
                arguments.iter().for_each(|argument| self.expr(argument));
            }
            ExprKind::At(thread, label) | ExprKind::Count(thread, label) => {
                self.thread(thread);
                self.mention_of(&thread.name.text, Kind::Label, label);
            }
            ExprKind::Member(thread, register, index) => {
                index.iter().for_each(|index| self.expr(index));
                self.thread(thread);
                self.mention_of(&thread.name.text, Kind::Register, register);
            }
        }
    }
}

/// A declaration up to its body.
fn head(whole: Span, body: Span) -> Span {
    Span::new(whole.start, body.start)
}

/// The blocks of a statement, those of an `else if` included.
pub fn blocks(kind: &StmtKind) -> Vec<&Block> {
    match kind {
        StmtKind::If(it) => {
            let otherwise = match &it.otherwise {
                Some(Else::Block(block)) => vec![block],
                Some(Else::If(next)) => blocks(&next.kind),
                None => Vec::new(),
            };
            [&it.then].into_iter().chain(otherwise).collect()
        }
        StmtKind::While(_, body) | StmtKind::DoWhile(body, _) | StmtKind::For(_, body) => vec![body],
        StmtKind::Loop(body) | StmtKind::Atomic(body) | StmtKind::Block(body) => vec![body],
        StmtKind::Choose(branches) => branches.iter().collect(),
        StmtKind::Let(_) | StmtKind::Assign(_) | StmtKind::Call(_) | StmtKind::Break | StmtKind::Continue => Vec::new(),
        StmtKind::Return(_) | StmtKind::Goto(_) | StmtKind::Label(_) | StmtKind::Assume(_) => Vec::new(),
        StmtKind::Assert(..) | StmtKind::Fence(_) | StmtKind::OrderedFence(_) | StmtKind::Skip => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Names};
    use crate::frontend::fw;
    use crate::source::Source;

    /// The line and kind of the declaration of what stands at the `n`th occurrence of a word.
    fn declared(text: &str, word: &str, n: usize) -> Option<(u32, Kind)> {
        let source = Source::new("t.fw", text);
        let names = Names::new(&fw::parse(&source).0);
        let (at, _) = text.match_indices(word).nth(n).expect("the word occurs so often");
        names.at(at as u32).map(|it| (source.line_of(it.name.span.start), it.kind))
    }

    const TEXT: &str = "forbid P(0)@here && P(0).r == N;
const N = 1;
shared x: 0..N;
thread P(i: 0..1) {
    let r: 0..1 = x;
    if (r == i) { let r = 0; x = r; } else if (r == N) { goto here; }
    x = r;
    here:
    assume(missing == x);
}
";

    #[test]
    fn names_mean_the_innermost_declaration() {
        assert_eq!(declared(TEXT, "N", 0), Some((2, Kind::Constant)));
        assert_eq!(declared(TEXT, "here", 0), Some((8, Kind::Label)));
        assert_eq!(declared(TEXT, "here", 1), Some((8, Kind::Label)));
        assert_eq!(declared(TEXT, "r ==", 0), Some((5, Kind::Register)));
        assert_eq!(declared(TEXT, "r; }", 0), Some((6, Kind::Register)));
        assert_eq!(declared(TEXT, "r;\n", 0), Some((5, Kind::Register)));
        assert_eq!(declared(TEXT, "i) {", 0), Some((4, Kind::Bound)));
        assert_eq!(declared(TEXT, "x);", 0), Some((3, Kind::Shared)));
        assert_eq!(declared(TEXT, "P(0).r", 0), Some((4, Kind::Thread)));
        assert_eq!(declared(TEXT, "missing", 0), None);
    }

    #[test]
    fn every_mention_is_found() {
        let source = Source::new("t.fw", TEXT);
        let names = Names::new(&fw::parse(&source).0);
        let x = TEXT.find("x: 0..N").expect("it is declared") as u32;
        let lines: Vec<u32> = names.mentions(x).iter().map(|span| source.line_of(span.start)).collect();
        assert_eq!(lines, [3, 5, 6, 7, 9]);
    }
}
