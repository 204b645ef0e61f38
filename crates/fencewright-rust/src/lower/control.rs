//! Branches and loops.
//!
//! Where it is known which way is taken, only that way is walked. Otherwise each way becomes statements apart; what
//! they come to meets in registers. Loops stay loops, without a bound.

use fencewright::frontend::hir::{Block, Expr, LabelId, Stmt, StmtKind};
use fencewright::program::BinaryOp as Op;
use fencewright::source::Span;

use crate::ast::{self, ExprKind, Pat};
use crate::value::Value;

use super::Lowering;
use super::mentions::{each, each_in};
use super::patterns::Subject;
use super::state::{Around, Join, test};

/// A way that is taken if a subject is like a pattern.
struct Way<'w> {
    pat: Option<&'w Pat>,
    guard: Option<&'w ast::Expr>,
    body: &'w ast::Expr,
}

impl Lowering<'_> {
    /// An expression that decides where control goes on.
    pub(super) fn control(&mut self, it: &ast::Expr) -> Option<Value> {
        let span = it.span;
        match &it.kind {
            ExprKind::Block(None, block) => self.block(block),
            ExprKind::Block(Some(label), block) => self.labeled(label, block, span),
            ExprKind::If(condition, then, otherwise) => self.if_(condition, then, otherwise.as_deref(), span),
            ExprKind::Let(pat, subject) => self.matches(subject, pat, None, span),
            ExprKind::Match(subject, arms) => {
                let subject = self.subject(subject)?;
                let ways = arms.iter().map(|it| Way { pat: Some(&it.pat), guard: it.guard.as_ref(), body: &it.body });
                let ways: Vec<Way<'_>> = ways.collect();
                self.ways(&subject, &ways, span)
            }
            ExprKind::Loop(label, body) => self.loop_(label.as_ref(), None, body, span),
            ExprKind::While(label, condition, body) => self.loop_(label.as_ref(), Some(condition), body, span),
            ExprKind::For(label, pat, over, body) => self.for_(label.as_ref(), (pat, over), body, span),
            ExprKind::Break(label, value) => self.break_(label.as_ref(), value.as_deref(), span),
            ExprKind::Continue(label) => self.continue_(label.as_ref(), span),
            ExprKind::Return(value) => {
                let value = match value {
                    Some(value) => self.value(value)?,
                    None => Value::UNIT,
                };
                self.returned(value, span)
            }
            ExprKind::Try(of) => self.tried(of, span),
            _ => self.refuse(span, "this expression is not supported", "write it in another way"),
        }
    }

    /// `matches!(e, p if c)`
    pub(super) fn matches(
        &mut self,
        subject: &ast::Expr,
        pat: &Pat,
        guard: Option<&ast::Expr>,
        span: Span,
    ) -> Option<Value> {
        let subject = self.subject(subject)?;
        let is = self.test(pat, &subject)?;
        let Some(guard) = guard else { return Some(Value::bool(is)) };
        let yes = ast::Expr { kind: ExprKind::Bool(true), span };
        let no = ast::Expr { kind: ExprKind::Bool(false), span };
        let ways = [Way { pat: Some(pat), guard: Some(guard), body: &yes }, Way { pat: None, guard: None, body: &no }];
        self.ways(&subject, &ways, span)
    }

    fn if_(
        &mut self,
        condition: &ast::Expr,
        then: &ast::Block,
        otherwise: Option<&ast::Expr>,
        span: Span,
    ) -> Option<Value> {
        let unit = ast::Expr { kind: ExprKind::Tuple(Vec::new()), span };
        let otherwise = otherwise.unwrap_or(&unit);
        let then = ast::Expr { kind: ExprKind::Block(None, then.clone()), span: then.span };
        match &condition.kind {
            ExprKind::Let(pat, subject) => {
                let subject = self.subject(subject)?;
                let ways =
                    [Way { pat: Some(pat), guard: None, body: &then }, Way { pat: None, guard: None, body: otherwise }];
                self.ways(&subject, &ways, span)
            }
            ExprKind::Binary(ast::Binary::And, ..) if has_let(condition) => {
                self.chain(condition, &then, otherwise, span)
            }
            _ => {
                let Value::Number(holds, _) = self.condition(condition)? else {
                    return self.refuse(condition.span, "this is no condition", "use something that is true or false");
                };
                self.two_ways(holds, &then, otherwise, span)
            }
        }
    }

    /// A condition, whose temporaries end with it.
    fn condition(&mut self, it: &ast::Expr) -> Option<Value> {
        self.state.frame().scopes.push(Default::default());
        let value = self.value(it);
        let value = value.and_then(|value| self.scope_ended(value, it.span));
        if value.is_none() {
            self.state.frame().scopes.pop();
        }
        match value? {
            Value::Never => Some(Value::bool(Expr::Const(0))),
            value => Some(value),
        }
    }

    fn two_ways(&mut self, holds: Expr, then: &ast::Expr, otherwise: &ast::Expr, span: Span) -> Option<Value> {
        if let Expr::Const(it) = holds {
            return self.value(if it == 0 { otherwise } else { then });
        }
        let holds = self.state.settled(holds, span);
        self.spill(&mut |see| [then, otherwise].into_iter().for_each(|it| each(it, see)), span)?;
        let mut join = Join { span, value: None };
        let then = self.way(&mut join, span, |it| it.value(then));
        let otherwise = self.way(&mut join, span, |it| it.value(otherwise));
        self.state.emit(StmtKind::If(vec![(test(holds, span), then?)], otherwise?), span);
        Some(join.value.unwrap_or(Value::Never))
    }

    /// One way, whose value meets those of the others.
    fn way(&mut self, join: &mut Join, span: Span, act: impl FnOnce(&mut Self) -> Option<Value>) -> Option<Block> {
        let (block, ()) = self.branch(|it| {
            let value = act(it)?;
            if !value.is_never() {
                it.drop_scope(span)?;
            }
            it.join(join, value, span)
        })?;
        Some(block)
    }

    /// `if let a = b && c`: one condition within the other, and the rest behind them.
    fn chain(&mut self, condition: &ast::Expr, then: &ast::Expr, otherwise: &ast::Expr, span: Span) -> Option<Value> {
        self.spill(&mut |see| [condition, then, otherwise].into_iter().for_each(|it| each(it, see)), span)?;
        let end = self.state.label("end");
        let mut join = Join { span, value: None };
        let mut conditions = Vec::new();
        flatten(condition, &mut conditions);
        let (block, ()) = self.branch(|it| it.links(&conditions, then, (&mut join, end), span))?;
        self.state.emit(StmtKind::Block(block), span);
        let block = self.way(&mut join, span, |it| it.value(otherwise))?;
        self.state.emit(StmtKind::Block(block), span);
        self.state.emit(StmtKind::Label(end), span);
        Some(join.value.unwrap_or(Value::Never))
    }

    fn links(
        &mut self,
        conditions: &[&ast::Expr],
        then: &ast::Expr,
        (join, end): (&mut Join, LabelId),
        span: Span,
    ) -> Option<()> {
        let Some((first, rest)) = conditions.split_first() else {
            let value = self.value(then)?;
            if !value.is_never() {
                self.drop_scope(span)?;
                self.join(join, value, span)?;
                self.state.emit(StmtKind::Goto(end), span);
            }
            return Some(());
        };
        let (holds, bound) = match &first.kind {
            ExprKind::Let(pat, subject) => {
                let subject = self.subject(subject)?;
                (self.test(pat, &subject)?, Some((pat, subject)))
            }
            _ => match self.condition(first)? {
                Value::Number(holds, _) => (holds, None),
                _ => return self.refuse(first.span, "this is no condition", "use something that is true or false"),
            },
        };
        let holds = self.state.settled(holds, span);
        let (block, ()) = self.branch(|it| {
            if let Some((pat, subject)) = &bound {
                it.bind_subject(pat, subject, span)?;
            }
            it.links(rest, then, (join, end), span)
        })?;
        self.state.emit(StmtKind::If(vec![(test(holds, span), block)], Vec::new()), span);
        Some(())
    }

    /// The first way whose pattern fits.
    fn ways(&mut self, subject: &Subject, ways: &[Way<'_>], span: Span) -> Option<Value> {
        let mut tests = Vec::new();
        for way in ways {
            let is = match way.pat {
                Some(pat) => self.test(pat, subject)?,
                None => Expr::Const(1),
            };
            let is = self.state.settled(is, span);
            let is_last = matches!(is, Expr::Const(1)) && way.guard.is_none();
            if !matches!(is, Expr::Const(0)) {
                tests.push((way, is));
            }
            if is_last {
                break;
            }
        }
        if let [(way, Expr::Const(1))] = &tests[..]
            && way.guard.is_none()
        {
            self.state.frame().scopes.push(Default::default());
            let value = self.taken_way(way, subject, span);
            let value = value.and_then(|value| self.scope_ended(value, span));
            if value.is_none() {
                self.state.frame().scopes.pop();
            }
            return value;
        }
        let all: Vec<&ast::Expr> = tests.iter().flat_map(|it| it.0.guard.into_iter().chain([it.0.body])).collect();
        self.spill(&mut |see| all.iter().for_each(|it| each(it, see)), span)?;
        let mut join = Join { span, value: None };
        if tests.iter().any(|it| it.0.guard.is_some()) {
            return self.guarded(subject, &tests, &mut join, span);
        }
        let mut branches = Vec::new();
        let mut is_wrong = false;
        for (way, is) in tests {
            match self.way(&mut join, span, |it| it.taken_way(way, subject, span)) {
                Some(block) => branches.push((is, block)),
                None => is_wrong = true,
            }
        }
        if is_wrong {
            return None;
        }
        // Patterns are exhaustive, so the last needs no test.
        let otherwise = branches.pop().map(|it| it.1).unwrap_or_default();
        let branches = branches.into_iter().map(|(is, block)| (test(is, span), block)).collect();
        self.state.emit(StmtKind::If(branches, otherwise), span);
        Some(join.value.unwrap_or(Value::Never))
    }

    fn taken_way(&mut self, way: &Way<'_>, subject: &Subject, span: Span) -> Option<Value> {
        if let Some(pat) = way.pat {
            self.bind_subject(pat, subject, span)?;
        }
        self.value(way.body)
    }

    /// Ways of which some have a condition: each goes behind the last of them when it is done.
    fn guarded(&mut self, subject: &Subject, ways: &[(&Way<'_>, Expr)], join: &mut Join, span: Span) -> Option<Value> {
        let end = self.state.label("end");
        for (way, is) in ways {
            let (block, ()) = self.branch(|it| {
                if let Some(pat) = way.pat {
                    it.bind_subject(pat, subject, span)?;
                }
                match way.guard {
                    Some(guard) => it.links(&[guard], way.body, (&mut *join, end), span),
                    None => it.links(&[], way.body, (&mut *join, end), span),
                }
            })?;
            let kind = match is {
                Expr::Const(_) => StmtKind::Block(block),
                is => StmtKind::If(vec![(test(is.clone(), span), block)], Vec::new()),
            };
            self.state.emit(kind, span);
        }
        self.state.emit(StmtKind::Label(end), span);
        Some(join.value.take().unwrap_or(Value::Never))
    }

    /// `let p = e else { … };`
    pub(super) fn let_else(
        &mut self,
        pat: &Pat,
        init: &ast::Expr,
        otherwise: &ast::Block,
        span: Span,
    ) -> Option<Value> {
        let subject = self.subject(init)?;
        let is = self.test(pat, &subject)?;
        if matches!(is, Expr::Const(0)) {
            return self.block(otherwise);
        }
        if !matches!(is, Expr::Const(_)) {
            let is = self.state.settled(is, span);
            self.spill(&mut |see| each_in(otherwise, see), span)?;
            let (block, _) = self.branch(|it| it.block(otherwise))?;
            self.state.emit(StmtKind::If(vec![(test(is.negated(), span), block)], Vec::new()), span);
        }
        self.bind_subject(pat, &subject, span)?;
        Some(Value::UNIT)
    }

    /// `e?`
    fn tried(&mut self, of: &ast::Expr, span: Span) -> Option<Value> {
        let value = self.value(of)?;
        let Value::Enum(it) = self.settled(value, span) else {
            return if self.is_unsure {
                Some(Value::Unset)
            } else {
                self.refuse(span, "`?` is for options and results", "match on it")
            };
        };
        let good = if it.number == crate::types::OPTION { 1 } else { 0 };
        let bad = 1 - good;
        let value = it.variants[good].as_ref().and_then(|it| it.first().cloned()).unwrap_or(Value::Unset);
        let rest = it.variants[bad].clone().unwrap_or_default();
        let failed = Value::variant(it.number, bad, it.sizes.clone(), rest);
        match it.tag {
            Expr::Const(tag) if tag == good as i64 => Some(value),
            Expr::Const(_) => self.returned(failed, span),
            tag => {
                let (block, _) = self.branch(|it| it.returned(failed, span))?;
                let is_bad = Expr::binary(Op::Eq, tag, Expr::Const(bad as i64));
                self.state.emit(StmtKind::If(vec![(test(is_bad, span), block)], Vec::new()), span);
                Some(value)
            }
        }
    }

    pub(super) fn enter(&mut self, label: Option<&String>, is_loop: bool, span: Span) {
        let behind = label.map(|it| self.state.label(&format!("behind {it}")));
        let next = label.filter(|_| is_loop).map(|it| self.state.label(&format!("next {it}")));
        self.enter_with(label, is_loop, (behind, next), span);
    }

    pub(super) fn enter_with(
        &mut self,
        label: Option<&String>,
        is_loop: bool,
        (behind, next): (Option<LabelId>, Option<LabelId>),
        span: Span,
    ) {
        let n_scopes = self.state.frame().scopes.len();
        let join = Join { span, value: None };
        let around = Around { label: label.cloned(), is_loop, n_scopes, behind, next, join, is_left: false };
        self.state.frame().around.push(around);
    }

    /// `'a: { … }`
    fn labeled(&mut self, label: &String, block: &ast::Block, span: Span) -> Option<Value> {
        self.spill(&mut |see| each_in(block, see), span)?;
        self.enter(Some(label), false, span);
        self.state.depth += 1;
        let value = self.block(block);
        self.state.depth -= 1;
        let mut around = self.state.frame().around.pop()?;
        self.join(&mut around.join, value?, span)?;
        self.state.emit(StmtKind::Label(around.behind?), span);
        Some(around.join.value.unwrap_or(Value::Never))
    }

    /// `loop { … }`, `while c { … }`
    fn loop_(
        &mut self,
        label: Option<&String>,
        condition: Option<&ast::Expr>,
        body: &ast::Block,
        span: Span,
    ) -> Option<Value> {
        self.spill(
            &mut |see| {
                condition.iter().for_each(|it| each(it, see));
                each_in(body, see);
            },
            span,
        )?;
        self.enter(label, true, span);
        self.state.n_loops += 1;
        let done = self.branch(|it| {
            let body = ast::Expr { kind: ExprKind::Block(None, body.clone()), span: body.span };
            match condition {
                None => it.value(&body),
                Some(condition) => {
                    let leave = ast::Expr { kind: ExprKind::Break(None, None), span: condition.span };
                    let then = ast::Block { statements: Vec::new(), value: Some(Box::new(body)), span: condition.span };
                    it.if_(condition, &then, Some(&leave), condition.span)
                }
            }
        });
        self.state.n_loops -= 1;
        let around = self.state.frame().around.pop()?;
        let (mut block, _) = done?;
        block.extend(around.next.map(|next| Stmt { span, kind: StmtKind::Label(next) }));
        self.leave_alone();
        self.state.emit(StmtKind::Loop(block), span);
        if let Some(behind) = around.behind {
            self.state.emit(StmtKind::Label(behind), span);
        }
        if !around.is_left {
            return Some(Value::Never);
        }
        Some(around.join.value.unwrap_or(Value::UNIT))
    }

    fn target(&mut self, label: Option<&String>, span: Span) -> Option<(usize, bool)> {
        let around = &self.state.frame().around;
        let at = match label {
            Some(label) => around.iter().rposition(|it| it.label.as_ref() == Some(label)),
            None => around.iter().rposition(|it| it.is_loop),
        };
        let Some(at) = at else {
            return self.refuse(span, "there is no loop around this", "`rustc` says more about it");
        };
        let is_innermost = around[at].is_loop && !around[at + 1..].iter().any(|it| it.is_loop);
        Some((at, is_innermost))
    }

    fn break_(&mut self, label: Option<&String>, value: Option<&ast::Expr>, span: Span) -> Option<Value> {
        let value = match value {
            Some(value) => self.value(value)?,
            None => Value::UNIT,
        };
        if value.is_never() {
            return Some(value);
        }
        let (at, is_innermost) = self.target(label, span)?;
        let n_scopes = self.state.frame().around[at].n_scopes;
        let value = self.settled(value, span);
        self.drop_scopes(n_scopes, span)?;
        let mut join = self.state.frame().around[at].join.clone();
        self.join(&mut join, value, span)?;
        let around = &mut self.state.frame().around[at];
        (around.join, around.is_left) = (join, true);
        let kind = match around.behind {
            Some(behind) if !is_innermost => StmtKind::Goto(behind),
            _ => StmtKind::Break,
        };
        Some(self.left(kind, span))
    }

    fn continue_(&mut self, label: Option<&String>, span: Span) -> Option<Value> {
        let (at, is_innermost) = self.target(label, span)?;
        let n_scopes = self.state.frame().around[at].n_scopes;
        self.drop_scopes(n_scopes, span)?;
        let kind = match self.state.frame().around[at].next {
            Some(next) if !is_innermost => StmtKind::Goto(next),
            _ => StmtKind::Continue,
        };
        Some(self.left(kind, span))
    }
}

fn has_let(it: &ast::Expr) -> bool {
    match &it.kind {
        ExprKind::Let(..) => true,
        ExprKind::Binary(ast::Binary::And, a, b) => has_let(a) || has_let(b),
        _ => false,
    }
}

fn flatten<'e>(it: &'e ast::Expr, all: &mut Vec<&'e ast::Expr>) {
    match &it.kind {
        ExprKind::Binary(ast::Binary::And, a, b) => {
            flatten(a, all);
            flatten(b, all);
        }
        _ => all.push(it),
    }
}
