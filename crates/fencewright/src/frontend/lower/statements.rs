//! Statements.

use crate::frontend::ast::{self, Stmt, StmtKind};
use crate::program::{Domain, Expr, Initial, Op, Place, RegisterId};
use crate::source::{Diagnostic, Span};

use super::body::{Body, Loop, Meaning, TargetRef};
use super::calls::Wanted;
use super::cfg::{Node, Origin, Slot};
use super::constants::ends;
use super::expressions::Pure;
use super::globals::domain;
use super::log::MAX_COPIES;
use super::typed::{Ty, Typed, binary, builtin};
use super::updates::{Into, Update};

/// How deeply statements may be nested once calls are inlined, for the sake of the stack.
const MAX_DEPTH: usize = 400;

impl<'a> Body<'_, 'a> {
    /// `{ … }`
    pub(super) fn block(&mut self, block: &'a ast::Block) {
        let n_names = self.here().names.len();
        let mut was_live = true;
        for stmt in &block.statements {
            if !self.log.spend(stmt.span) {
                break;
            }
            let is_live = self.cfg.is_reached(self.cursor);
            if !matches!(stmt.kind, StmtKind::Label(_)) {
                let notes = if was_live && !is_live { &mut self.notes.dead } else { &mut self.notes.live };
                notes.insert(stmt.span);
            }
            self.statement(stmt);
            was_live = is_live;
        }
        self.here().names.truncate(n_names);
    }

    fn statement(&mut self, stmt: &'a Stmt) {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("statements are nested more than {MAX_DEPTH} deep");
            self.log.error(stmt.span, message, "nest fewer blocks and calls");
        } else {
            self.any_statement(stmt);
        }
        self.depth -= 1;
    }

    fn any_statement(&mut self, stmt: &'a Stmt) {
        if self.is_atomic
            && let Some(what) = forbidden_in_atomic(&stmt.kind)
        {
            self.refuse_in_atomic(what, stmt.span);
            return;
        }
        match &stmt.kind {
            StmtKind::Let(it) => self.let_(it, stmt.span),
            StmtKind::Assign(it) => self.assign(it, stmt.span),
            StmtKind::Call(expr) => self.call_statement(expr),
            StmtKind::If(it) => self.if_(it),
            StmtKind::While(condition, body) => self.while_(condition, body),
            StmtKind::DoWhile(body, condition) => self.do_while(body, condition),
            StmtKind::Loop(body) => self.loop_(body),
            StmtKind::For(binder, body) => self.for_(binder, body),
            StmtKind::Choose(blocks) => self.choose(blocks, stmt.span),
            StmtKind::Atomic(block) => self.atomic(block, stmt.span),
            StmtKind::Block(block) => self.block(block),
            StmtKind::Break => self.leave_loop("break", stmt.span, |it| it.exit),
            StmtKind::Continue => self.leave_loop("continue", stmt.span, |it| it.next),
            StmtKind::Return(value) => self.return_(value.as_ref(), stmt.span),
            StmtKind::Goto(name) => self.goto(name),
            StmtKind::Label(name) => self.label(name),
            StmtKind::Assume(condition) => {
                let holds = self.cfg.node();
                self.condition(condition, Some(holds), None);
                self.cursor = holds;
            }
            StmtKind::Assert(condition) => self.assert(condition),
            StmtKind::Fence(kind) => self.step(Op::Fence(*kind), stmt.span),
            StmtKind::Skip => {}
        }
    }

    fn let_(&mut self, it: &'a ast::Let, statement: Span) {
        let environment = self.environment();
        let declared = it.ty.as_ref().and_then(|ty| domain(self.log, &environment, ty));
        let origin = if self.stack.len() == 1 { Origin::Let } else { Origin::Inlined };
        let register = self.cfg.slots.push(Slot {
            name: it.name.text.clone(),
            ty: declared.map_or(Ty::Unknown, Ty::of),
            domain: declared,
            initial: None,
            origin,
            span: it.name.span,
            statement,
            is_read: false,
        });
        match &it.value {
            Some(value) => self.first_value(register, value, statement),
            None => {
                let ty = declared.map_or(Ty::Int, Ty::of);
                let zero = Typed::new(Expr::Const(0), ty, it.name.span);
                self.first_constant(register, zero, statement);
            }
        }
        // The name is not known in its own value.
        self.bind(&it.name, Meaning::Register(register));
    }

    fn first_value(&mut self, register: RegisterId, value: &ast::Expr, statement: Span) {
        let domain = self.slot(register).domain;
        let is_any = matches!(value.kind, ast::ExprKind::Any(None));
        if is_any && self.is_at_entry() && domain.is_some_and(|it| it.bounds().is_some()) {
            self.slot(register).initial = Some(Initial::Any);
            return;
        }
        if !self.is_at_entry() || !self.is_simple(value) {
            return self.assign_register(register, value, statement);
        }
        let typed = self.value(value, domain);
        self.first_constant(register, typed, statement);
    }

    /// Lets a register start with a constant if its `let` is the first thing a process does.
    fn first_constant(&mut self, register: RegisterId, value: Pure, statement: Span) {
        let domain = self.slot(register).domain;
        let constant = value.constant().filter(|it| domain.is_none_or(|domain| domain.contains(*it)));
        match constant {
            Some(constant) if self.is_at_entry() => {
                if self.settle_type(register, value.ty, value.span) {
                    self.slot(register).initial = Some(Initial::Value(constant));
                }
            }
            Some(_) | None => self.put(register, value, statement),
        }
    }

    /// Whether nothing was done yet and we never come back here.
    fn is_at_entry(&self) -> bool {
        let is_entry = self.cfg.find(self.cursor) == self.cfg.find(self.cfg.entry);
        let is_first = self.cfg.arcs.is_empty() && self.cfg.labels(self.cursor).is_empty();
        is_entry && is_first && self.n_loops == 0 && !self.is_atomic
    }

    /// Whether an expression consists of numbers and constants.
    fn is_simple(&mut self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ast::ExprKind::Int(_) | ast::ExprKind::Bool(_) => true,
            ast::ExprKind::Name(name) => matches!(self.resolve(name), Meaning::Const(..)),
            ast::ExprKind::Paren(inner) | ast::ExprKind::Unary(_, inner) => self.is_simple(inner),
            ast::ExprKind::Binary(_, left, right) => self.is_simple(left) && self.is_simple(right),
            ast::ExprKind::Any(_)
            | ast::ExprKind::Index(..)
            | ast::ExprKind::Call(..)
            | ast::ExprKind::At(..)
            | ast::ExprKind::Member(..) => false,
        }
    }

    fn assign(&mut self, it: &'a ast::Assign, statement: Span) {
        let target = TargetRef { name: &it.target.name, index: it.target.index.as_deref(), span: it.target.span };
        let meaning = self.resolve(target.name);
        match meaning {
            Meaning::Shared(shared) => {
                let Some(place) = self.place(shared, &target) else {
                    self.value(&it.value, Some(Domain::Bool));
                    return;
                };
                self.store(place, &target, it, statement);
            }
            Meaning::Register(register) if target.index.is_none() => match it.op {
                None => self.assign_register(register, &it.value, statement),
                Some(op) => {
                    let old = Typed::new(Expr::Var(register), self.slot(register).ty, target.span);
                    let value = self.value(&it.value, None);
                    let value = binary(self.log, op, old, value, statement);
                    self.put(register, value, statement);
                }
            },
            Meaning::Register(_) => {
                let message = format!("`{}` is not an array", target.name.text);
                self.log.error(target.span, message, "use it without an index");
            }
            Meaning::Const(..) => self.refuse_target(&target, "a constant"),
            Meaning::Thread => self.refuse_target(&target, "a thread"),
            Meaning::Function(_) => self.refuse_target(&target, "a function"),
            // The value may have mistakes of its own; `any` is none, whatever it was to be.
            Meaning::Wrong => drop(self.value(&it.value, Some(Domain::Bool))),
        }
    }

    fn refuse_target(&mut self, target: &TargetRef<'_>, what: &str) {
        let message = format!("`{}` is {what} and cannot be assigned", target.name.text);
        self.log.error(target.span, message, "assign to a register or a shared variable");
    }

    fn store(&mut self, place: Place, target: &TargetRef<'_>, it: &ast::Assign, statement: Span) {
        let domain = self.domain_of(&place);
        let value = match it.op {
            None => self.value_of(&it.value, domain),
            Some(op) => {
                let old = self.temporary(Some(domain), Ty::of(domain), target.span);
                self.step(Op::Load(old, place.clone()), target.span);
                let value = self.value(&it.value, None);
                let old = Typed::new(Expr::Var(old), Ty::of(domain), target.span);
                binary(self.log, op, old, value, statement).expect(self.log, Ty::of(domain))
            }
        };
        if value.ty != Ty::Unknown {
            self.warn_outside(Some(domain), &value);
            self.step(Op::Store(place, value.expr), statement);
        }
    }

    fn call_statement(&mut self, expr: &'a ast::Expr) {
        let ast::ExprKind::Call(name, arguments) = &expr.kind else {
            self.log.error(expr.span, "this does nothing", "a statement assigns, calls or jumps");
            return;
        };
        if name.text == "cas" {
            let after = self.cfg.node();
            self.cas((name, arguments), expr.span, Some(after), Some(after));
            self.cursor = after;
        } else if let Some(update) = Update::by_name(&name.text) {
            self.update(update, (name, arguments), expr.span, Into::Nowhere);
        } else if builtin(&name.text).is_some() {
            self.log.error(expr.span, format!("`{}` has no effect", name.text), "use its value, or leave it out");
        } else {
            self.call((name, arguments), expr.span, Wanted::Effect);
        }
    }

    fn if_(&mut self, it: &'a ast::If) {
        let (then, otherwise, after) = (self.cfg.node(), self.cfg.node(), self.cfg.node());
        self.condition(&it.condition, Some(then), Some(otherwise));
        self.cursor = then;
        self.block(&it.then);
        self.join(after);
        self.cursor = otherwise;
        match &it.otherwise {
            Some(ast::Else::Block(block)) => self.block(block),
            Some(ast::Else::If(stmt)) => self.statement(stmt),
            None => {}
        }
        self.merge(after);
    }

    fn while_(&mut self, condition: &'a ast::Expr, body: &'a ast::Block) {
        let (head, inside, exit) = (self.cursor, self.cfg.node(), self.cfg.node());
        self.n_loops += 1;
        self.condition(condition, Some(inside), Some(exit));
        self.cursor = inside;
        self.here().loops.push(Loop { exit, next: head });
        self.block(body);
        self.join(head);
        self.here().loops.pop();
        self.n_loops -= 1;
        self.cursor = exit;
    }

    fn do_while(&mut self, body: &'a ast::Block, condition: &'a ast::Expr) {
        let (head, next, exit) = (self.cursor, self.cfg.node(), self.cfg.node());
        self.n_loops += 1;
        self.here().loops.push(Loop { exit, next });
        self.block(body);
        self.here().loops.pop();
        self.merge(next);
        self.condition(condition, Some(head), Some(exit));
        self.n_loops -= 1;
        self.cursor = exit;
    }

    fn loop_(&mut self, body: &'a ast::Block) {
        let (head, exit) = (self.cursor, self.cfg.node());
        self.n_loops += 1;
        self.here().loops.push(Loop { exit, next: head });
        self.block(body);
        self.join(head);
        self.here().loops.pop();
        self.n_loops -= 1;
        self.cursor = exit;
    }

    fn for_(&mut self, binder: &'a ast::Binder, body: &'a ast::Block) {
        let environment = self.environment();
        let Some((lo, hi)) = ends(self.log, &environment, &binder.range) else { return };
        let span = binder.range.lo.span.to(binder.range.hi.span);
        let n_copies = i128::from(hi) - i128::from(lo) + 1;
        if n_copies < 0 {
            self.log.error(span, format!("the range `{lo}..{hi}` is empty"), "swap the ends");
        }
        if n_copies > MAX_COPIES {
            let message = format!("`for` makes {n_copies} copies, more than {MAX_COPIES}");
            self.log.error(span, message, "it is unrolled: use a smaller range, or `while` with a register");
            return;
        }
        let exit = self.cfg.node();
        for value in lo..=hi {
            if !self.log.spend(binder.name.span) {
                break;
            }
            let next = self.cfg.node();
            self.here().loops.push(Loop { exit, next });
            self.push_frame(body);
            self.bind(&binder.name, Meaning::Const(value, Ty::Int));
            self.block(body);
            self.here().names.pop();
            self.here().frames.pop();
            self.here().loops.pop();
            if self.cfg.is_reached(next) {
                self.merge(next);
            }
        }
        if self.cfg.is_reached(exit) {
            self.merge(exit);
        }
    }

    fn choose(&mut self, blocks: &'a [ast::Block], span: Span) {
        let (start, after) = (self.cursor, self.cfg.node());
        for block in blocks {
            let branch = self.cfg.node();
            self.cursor = start;
            self.arc(Op::Assume(Expr::TRUE), branch, span);
            self.cursor = branch;
            self.block(block);
            self.join(after);
        }
        self.cursor = after;
    }

    fn leave_loop(&mut self, what: &str, span: Span, target: impl Fn(&Loop) -> Node) {
        match self.here().loops.last().map(target) {
            Some(node) => self.jump(node),
            None => {
                let diagnostic = Diagnostic::error(span, format!("`{what}` outside a loop"));
                self.log.say(diagnostic.with_help("put it in a loop, or use `return;` or `goto`"));
            }
        }
    }

    fn assert(&mut self, condition: &'a ast::Expr) {
        self.log.has_assert = true;
        if !self.needs_flow(condition) {
            let value = self.value_of(condition, Domain::Bool);
            if value.constant() != Some(1) {
                self.step(Op::Assert(value.expr), condition.span);
            }
            return;
        }
        let (holds, fails) = (self.cfg.node(), self.cfg.node());
        self.condition(condition, Some(holds), Some(fails));
        self.cursor = fails;
        self.arc(Op::Assert(Expr::Const(0)), holds, condition.span);
        self.cursor = holds;
    }
}

/// The name of a statement that may not stand in `atomic`.
fn forbidden_in_atomic(kind: &StmtKind) -> Option<&'static str> {
    match kind {
        StmtKind::While(..) => Some("while"),
        StmtKind::DoWhile(..) => Some("do"),
        StmtKind::Loop(_) => Some("loop"),
        StmtKind::Atomic(_) => Some("atomic"),
        StmtKind::Break => Some("break"),
        StmtKind::Continue => Some("continue"),
        StmtKind::Goto(_) => Some("goto"),
        StmtKind::Label(_) => Some("label"),
        StmtKind::Fence(_) => Some("fence"),
        // Whether a `return` leaves the block depends on where the function was called.
        StmtKind::Return(_) => None,
        StmtKind::Let(_) | StmtKind::Assign(_) | StmtKind::Call(_) | StmtKind::If(_) | StmtKind::For(..) => None,
        StmtKind::Choose(_) | StmtKind::Block(_) | StmtKind::Assume(_) | StmtKind::Assert(_) | StmtKind::Skip => None,
    }
}
