//! Statements.

use crate::frontend::ast::{self, Compound, Stmt, StmtKind};
use crate::frontend::hir::{self, First, LocalId, StmtKind as Kind, StoreOrder};
use crate::program::{Domain, Expr, Value};
use crate::source::{Diagnostic, Span};
use crate::watch::heed;

use super::atomic;
use super::body::{Body, Meaning, TargetRef};
use super::calls::Wanted;
use super::constants::ends;
use super::expressions::Pure;
use super::globals::domain;
use super::labels::has_labels;
use super::live::Loop;
use super::log::{Log, MAX_COPIES};
use super::orders;
use super::registers::{Origin, Register};
use super::typed::{Ty, Typed, binary, builtin, shifted, shifting};
use super::updates;

/// How deeply statements may be nested once calls are inlined, for the sake of the stack.
const MAX_DEPTH: usize = 400;

impl<'a> Body<'_, 'a> {
    /// `{ … }`
    pub(super) fn block(&mut self, block: &'a ast::Block) -> hir::Block {
        let n_names = self.here().names.len();
        let mut out = Vec::with_capacity(block.statements.len());
        let mut was_live = true;
        for stmt in &block.statements {
            if !self.log.spend(stmt.span) {
                break;
            }
            let (is_live, n_labels) = (self.is_live, self.n_labels);
            let kind = self.nested(stmt.span, |body| body.statement(stmt)).flatten();
            if !matches!(stmt.kind, StmtKind::Label(_)) {
                // A label inside may be jumped to.
                let is_dead = was_live && !is_live && self.n_labels == n_labels;
                let notes = if is_dead { &mut self.notes.dead } else { &mut self.notes.live };
                notes.insert(stmt.span);
            }
            was_live = is_live;
            out.extend(kind.map(|kind| hir::Stmt { span: stmt.span, kind }));
        }
        self.here().names.truncate(n_names);
        out
    }

    /// Goes one level deeper, unless that is too deep.
    fn nested<T>(&mut self, span: Span, lower: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.depth += 1;
        let lowered = if self.depth > MAX_DEPTH {
            let message = format!("statements are nested more than {MAX_DEPTH} deep");
            self.log.error(span, message, "nest fewer blocks and calls");
            None
        } else {
            Some(lower(self))
        };
        self.depth -= 1;
        lowered
    }

    /// What a statement does; nothing if there is a mistake in it.
    fn statement(&mut self, stmt: &'a Stmt) -> Option<Kind> {
        heed(4);
        if self.is_atomic
            && let Some(what) = atomic::forbidden(&stmt.kind)
        {
            self.refuse_in_atomic(what, stmt.span);
            return None;
        }
        Some(match &stmt.kind {
            StmtKind::Let(it) if it.sizes.is_empty() => self.let_(it, stmt.span),
            StmtKind::Let(it) => return self.let_array(it, stmt.span),
            StmtKind::Assign(it) => return self.assign(it, stmt.span),
            StmtKind::Call(expr) => return self.call_statement(expr, stmt.span),
            StmtKind::If(it) => {
                let mut branches = Vec::with_capacity(1);
                let last = self.if_(it, &mut branches);
                Kind::If(branches, last)
            }
            StmtKind::While(condition, body) => self.while_(condition, body),
            StmtKind::DoWhile(body, condition) => self.do_while(body, condition),
            StmtKind::Loop(body) => self.loop_(body),
            StmtKind::For(binder, body) => return self.for_(binder, body),
            StmtKind::Choose(blocks) => self.choose(blocks),
            StmtKind::Atomic(block) => self.atomic(block),
            StmtKind::Block(block) => Kind::Block(self.block(block)),
            StmtKind::Break => return self.leave_loop("break", stmt.span, |it| &mut it.is_left).then_some(Kind::Break),
            StmtKind::Continue => {
                return self.leave_loop("continue", stmt.span, |it| &mut it.is_continued).then_some(Kind::Continue);
            }
            StmtKind::Return(value) => return self.return_(value.as_ref(), stmt.span),
            StmtKind::Goto(name) => return self.goto(name),
            StmtKind::Label(name) => return self.label(name),
            StmtKind::Assume(condition) => {
                self.warn_of_repeated_loads(condition);
                let (condition, sides) = self.condition(condition);
                self.is_live = sides.yes;
                Kind::Assume(condition)
            }
            StmtKind::Assert(condition, message) => self.assert(condition, message.as_ref().map(|_| stmt.span)),
            StmtKind::Fence(kind) => Kind::Fence(*kind),
            StmtKind::OrderedFence(order) => Kind::OrderedFence(orders::fence(*order)?),
            StmtKind::Skip => Kind::Skip,
        })
    }

    /// An edge will come of this. Where there are too many, `spend` says so of the next statement.
    pub(super) fn foresee(&mut self, span: Span) {
        self.log.said.foresee_edge(span);
    }

    /// A register as `let` declares it here.
    pub(super) fn declared(&self, name: String, domain: Option<Domain>, span: Span, statement: Span) -> Register {
        let origin = if self.stack.len() == 1 { Origin::Let } else { Origin::Inlined };
        Register { name, ty: domain.map_or(Ty::Unknown, Ty::of), domain, origin, span, statement, is_read: false }
    }

    fn let_(&mut self, it: &'a ast::Let, statement: Span) -> Kind {
        let environment = self.environment();
        let declared = it.ty.as_ref().and_then(|ty| domain(self.log, &environment, ty));
        let register = self.registers.push(self.declared(it.name.text.clone(), declared, it.name.span, statement));
        let first = match &it.value {
            Some(value) => self.first_value(register, value),
            None => Some(self.zero(register, it.name.span)),
        };
        // The name is not known in its own value.
        self.bind(&it.name, Meaning::Register(register));
        Kind::Let(register, first.unwrap_or(First::Unset))
    }

    /// What a register starts with if nothing is said.
    pub(super) fn zero(&mut self, register: LocalId, span: Span) -> First {
        let ty = self.registers[register].domain.map_or(Ty::Int, Ty::of);
        self.first_constant(register, Typed::new(Expr::Const(0), ty, span)).unwrap_or(First::Unset)
    }

    pub(super) fn first_value(&mut self, register: LocalId, value: &ast::Expr) -> Option<First> {
        let domain = self.registers[register].domain;
        let is_any = matches!(value.kind, ast::ExprKind::Any(None));
        if is_any && domain.is_some_and(|it| it.bounds().is_some()) {
            self.foresee(value.span);
            return Some(First::Any);
        }
        if !self.is_simple(value) {
            return self.assigned(register, value).map(First::Value);
        }
        let typed = self.value(value, domain);
        self.first_constant(register, typed)
    }

    /// Lets a register start with a constant, if it is one that it can hold.
    fn first_constant(&mut self, register: LocalId, value: Pure) -> Option<First> {
        let domain = self.registers[register].domain;
        let constant = value.constant().filter(|it| domain.is_none_or(|domain| domain.contains(*it)));
        match constant {
            Some(constant) => {
                self.foresee(value.span);
                self.settle_type(register, value.ty, value.span).then_some(First::Constant(constant))
            }
            None => self.put(register, value).map(First::Value),
        }
    }

    /// Whether an expression consists of numbers and constants.
    pub(super) fn is_simple(&mut self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ast::ExprKind::Int(_) | ast::ExprKind::Based(..) | ast::ExprKind::Bool(_) => true,
            ast::ExprKind::Name(name) => matches!(self.resolve(name), Meaning::Const(..)),
            ast::ExprKind::Paren(inner) | ast::ExprKind::Unary(_, inner) => self.is_simple(inner),
            ast::ExprKind::Binary(_, left, right) | ast::ExprKind::Shift(_, left, right) => {
                self.is_simple(left) && self.is_simple(right)
            }
            ast::ExprKind::Any(_)
            | ast::ExprKind::Conditional(_)
            | ast::ExprKind::Index(..)
            | ast::ExprKind::Call(..)
            | ast::ExprKind::At(..)
            | ast::ExprKind::Count(..)
            | ast::ExprKind::Member(..) => false,
        }
    }

    fn assign(&mut self, it: &'a ast::Assign, statement: Span) -> Option<Kind> {
        let target = TargetRef { name: &it.target.name, index: &it.target.index, span: it.target.span };
        let meaning = self.resolve(target.name);
        match meaning {
            Meaning::Shared(shared) => {
                let Some(place) = self.place(shared, &target) else {
                    self.value(&it.value, Some(Domain::Bool));
                    return None;
                };
                self.store(place, &target, it, statement)
            }
            Meaning::Register(register) if target.index.is_empty() => {
                let value = match it.op {
                    None => self.assigned(register, &it.value),
                    Some(op) => {
                        let ty = self.registers[register].ty;
                        let old = Typed::new(Expr::Var(hir::Operand::Local(register)), ty, target.span);
                        let value = self.value(&it.value, None);
                        let value = combined(self.log, op, old, &value, statement);
                        self.put(register, value)
                    }
                };
                value.map(|value| Kind::Assign(register, value))
            }
            Meaning::Register(_) => {
                let message = format!("`{}` is not an array", target.name.text);
                self.log.error(target.span, message, "use it without an index");
                None
            }
            Meaning::Cells(_) if target.index.is_empty() => self.refuse_target(&target, "an array"),
            Meaning::Cells(array) => self.assign_cell(&array, &target, it, statement),
            Meaning::Const(..) => self.refuse_target(&target, "a constant"),
            Meaning::Thread => self.refuse_target(&target, "a thread"),
            Meaning::Enum => self.refuse_target(&target, "a type"),
            Meaning::Function(_) => self.refuse_target(&target, "a function"),
            Meaning::Wrong => {
                // The value may have mistakes of its own; `any` is none, whatever it was to be.
                self.value(&it.value, Some(Domain::Bool));
                None
            }
        }
    }

    fn refuse_target(&mut self, target: &TargetRef<'_>, what: &str) -> Option<Kind> {
        let message = format!("`{}` is {what} and cannot be assigned", target.name.text);
        self.log.error(target.span, message, "assign to a register or a shared variable");
        None
    }

    fn store(&mut self, place: hir::Place, target: &TargetRef<'_>, it: &ast::Assign, statement: Span) -> Option<Kind> {
        let domain = self.unit.domain_of(&place);
        if self.globals.is_constant(self.unit.memory(), &place) {
            return self.refuse_target(target, "a constant array");
        }
        let Some(op) = it.op else {
            let value = self.value_of(&it.value, domain);
            self.warn_outside(Some(domain), &value);
            self.foresee(statement);
            return (value.ty != Ty::Unknown).then_some(Kind::Store(place, StoreOrder::Plain, value.expr));
        };
        let old = self.load(place.clone(), target.span);
        let value = self.value(&it.value, None);
        let (sum, by) = match op {
            Compound::Binary(op) => (binary(self.log, op, old, value.clone(), statement), vec![(op, value.expr)]),
            Compound::Shift(shift) => {
                let by = shifting(shift, value.constant().unwrap_or(0));
                let by = by.map(|by| by.into_iter().map(|(op, it)| (op, Expr::Const(it))).collect());
                (shifted(self.log, shift, old, &value, statement), by.unwrap_or_default())
            }
        };
        let sum = sum.expect(self.log, Ty::of(domain));
        self.foresee(statement);
        (sum.ty != Ty::Unknown).then_some(Kind::Modify(place, target.span, by))
    }

    fn call_statement(&mut self, expr: &'a ast::Expr, statement: Span) -> Option<Kind> {
        let ast::ExprKind::Call(name, arguments) = &expr.kind else {
            self.log.error(expr.span, "this does nothing", "a statement assigns, calls or jumps");
            return None;
        };
        if self.is_access(name, "store") {
            return self.ordered_store((name, arguments), statement);
        }
        if name.text == "cas" {
            let kind = self.cas((name, arguments), expr.span);
            return Some(Kind::If(vec![(hir::Condition { span: expr.span, kind }, Vec::new())], Vec::new()));
        }
        if name.text == "cmpxchg" {
            let (effect, _) = self.compare_exchange((name, arguments), expr.span)?;
            return Some(Kind::Do(effect));
        }
        if let Some(update) = updates::by_name(&name.text) {
            let (effect, _) = self.update(update, (name, arguments), expr.span)?;
            return Some(Kind::Do(effect));
        }
        if self.is_access(name, "load") || builtin(&name.text).is_some() {
            self.log.error(expr.span, format!("`{}` has no effect", name.text), "use its value, or leave it out");
            return None;
        }
        let call = self.call((name, arguments), expr.span, Wanted::Effect)?;
        Some(Kind::Do(hir::Effect { span: expr.span, kind: hir::EffectKind::Call(call) }))
    }

    /// The branches of an `if` go to a list; what comes last if none is taken.
    fn if_(&mut self, it: &'a ast::If, branches: &mut Vec<(hir::Condition, hir::Block)>) -> hir::Block {
        self.warn_of_repeated_loads(&it.condition);
        let (condition, sides) = self.condition(&it.condition);
        self.is_live = sides.yes;
        let then = self.block(&it.then);
        branches.push((condition, then));
        let is_live = std::mem::replace(&mut self.is_live, sides.no);
        let last = match &it.otherwise {
            Some(ast::Else::Block(block)) => self.block(block),
            Some(ast::Else::If(stmt)) => {
                let StmtKind::If(it) = &stmt.kind else { unreachable!("`else` is followed by `if` or a block") };
                self.nested(stmt.span, |body| body.if_(it, branches)).unwrap_or_default()
            }
            None => Vec::new(),
        };
        self.is_live |= is_live;
        last
    }

    fn while_(&mut self, condition: &'a ast::Expr, body: &'a ast::Block) -> Kind {
        self.warn_of_repeated_loads(condition);
        self.is_live |= has_labels(body);
        let (condition, sides) = self.condition(condition);
        self.is_live = sides.yes;
        let (body, inside) = self.inside_loop(|it| it.block(body));
        self.is_live = sides.no || inside.is_left;
        Kind::While(condition, body)
    }

    fn do_while(&mut self, body: &'a ast::Block, condition: &'a ast::Expr) -> Kind {
        self.warn_of_repeated_loads(condition);
        self.is_live |= has_labels(body);
        let (body, inside) = self.inside_loop(|it| it.block(body));
        self.is_live |= inside.is_continued;
        let (condition, sides) = self.condition(condition);
        self.is_live = sides.no || inside.is_left;
        Kind::DoWhile(body, condition)
    }

    fn loop_(&mut self, body: &'a ast::Block) -> Kind {
        self.is_live |= has_labels(body);
        let (body, inside) = self.inside_loop(|it| it.block(body));
        self.is_live = inside.is_left;
        Kind::Loop(body)
    }

    fn choose(&mut self, blocks: &'a [ast::Block]) -> Kind {
        let (start, mut end) = (self.is_live, false);
        let mut choices = Vec::new();
        for block in blocks {
            self.foresee(block.span);
            self.is_live = start;
            choices.push(self.block(block));
            end |= self.is_live;
        }
        self.is_live = end;
        Kind::Choose(choices)
    }

    fn for_(&mut self, binder: &'a ast::Binder, body: &'a ast::Block) -> Option<Kind> {
        let environment = self.environment();
        let (lo, hi) = ends(self.log, &environment, &binder.range)?;
        let span = binder.range.lo.span.to(binder.range.hi.span);
        let n_copies = i128::from(hi) - i128::from(lo) + 1;
        if n_copies < 0 {
            self.log.error(span, format!("the range `{lo}..{hi}` is empty"), "swap the ends");
        }
        if n_copies > MAX_COPIES {
            let message = format!("`for` makes {n_copies} copies, more than {MAX_COPIES}");
            self.log.error(span, message, "it is unrolled: use a smaller range, or `while` with a register");
            return None;
        }
        let mut copies = Vec::new();
        let mut is_left = false;
        for value in lo..=hi {
            heed(4);
            if !self.log.spend(binder.name.span) {
                break;
            }
            let (copy, inside) = self.inside_loop(|it| it.copy(binder, value, body));
            copies.push(copy);
            self.is_live |= inside.is_continued;
            is_left |= inside.is_left;
        }
        self.is_live |= is_left;
        Some(Kind::Copies(copies))
    }

    /// The body of a `for`, for one value.
    fn copy(&mut self, binder: &ast::Binder, value: Value, body: &'a ast::Block) -> hir::Body {
        let labels = self.push_frame(body);
        self.bind(&binder.name, Meaning::Const(value, Ty::Int));
        let block = self.block(body);
        self.here().names.pop();
        self.here().frames.pop();
        hir::Body { labels, block }
    }

    /// Whether there is a loop to leave or to go on with; otherwise it is reported.
    fn leave_loop(&mut self, what: &str, span: Span, way: impl Fn(&mut Loop) -> &mut bool) -> bool {
        let is_live = self.is_live;
        let Some(inside) = self.here().loops.last_mut() else {
            let diagnostic = Diagnostic::error(span, format!("`{what}` outside a loop"));
            self.log.say(diagnostic.with_help("put it in a loop, or use `return;` or `goto`"));
            return false;
        };
        *way(inside) |= is_live;
        self.is_live = false;
        true
    }

    /// `assert(c);`; with a message, the whole statement is what is shown of it.
    fn assert(&mut self, condition: &'a ast::Expr, shown: Option<Span>) -> Kind {
        self.log.has_assert = true;
        self.warn_of_repeated_loads(condition);
        let (condition, sides) = self.condition(condition);
        self.is_live = sides.any();
        Kind::Assert(hir::Condition { span: shown.unwrap_or(condition.span), ..condition })
    }
}

/// What comes of `old op= value`.
pub(super) fn combined(log: &mut Log, op: Compound, old: Pure, value: &Pure, span: Span) -> Pure {
    match op {
        Compound::Binary(op) => binary(log, op, old, value.clone(), span),
        Compound::Shift(shift) => shifted(log, shift, old, value, span),
    }
}
