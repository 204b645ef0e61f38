//! Counts in properties: `#P@l >= 2`, as alternatives, one for each choice of members.

use crate::frontend::ast::{self, Expr, ExprKind};
use crate::frontend::hir::Claim;
use crate::frontend::said::MAX_SITUATIONS;
use crate::program::BinaryOp;
use crate::source::Span;
use crate::watch::heed;

use super::constants::constant;
use super::properties::Lowering;

/// `#P@l`, and what it is compared with.
#[derive(Clone, Copy)]
struct Compared<'e> {
    thread: &'e ast::ThreadRef,
    label: &'e ast::Name,
    op: BinaryOp,
    number: &'e Expr,
}

/// The members of a family that are enough for a count.
#[derive(Clone, Debug)]
pub(super) struct Members {
    /// The place of the comparison.
    pub span: Span,
    /// By their numbers.
    pub chosen: Vec<usize>,
}

impl Lowering<'_, '_, '_> {
    /// Each choice of members for the only count that must hold, if there is one and it can: so that it can be told who
    /// it was.
    pub(super) fn choices_of_members(&mut self, condition: &Expr) -> Option<Vec<Members>> {
        let mut all = Vec::new();
        must_hold(condition, &mut all);
        let [only] = all[..] else { return None };
        let (span, it) = (only.span, compared(only)?);
        // Which of any number of copies it was is of no interest.
        if self.is_any(it.thread) {
            return None;
        }
        let choices = self.choices(it, span).filter(|it| !it.is_empty())?;
        Some(choices.into_iter().map(|chosen| Members { span, chosen }).collect())
    }

    /// `#P@l >= 2`, if it is one.
    pub(super) fn count(&mut self, expr: &Expr) -> Option<Claim> {
        let it = compared(expr)?;
        let known = self.members.as_ref().filter(|known| known.span == expr.span);
        let choices = match known {
            Some(known) => vec![known.chosen.clone()],
            None => self.choices(it, expr.span).unwrap_or_default(),
        };
        let together = |lowering: &mut Self, chosen: Vec<usize>| {
            let ats: Option<Vec<Claim>> = chosen.into_iter().map(|i| lowering.at_label(i, it.label)).collect();
            let and = |a, b| Claim::And(Box::new(a), Box::new(b), expr.span);
            ats.and_then(|ats| ats.into_iter().reduce(and)).unwrap_or(Claim::Never)
        };
        let claims: Vec<Claim> = choices.into_iter().map(|chosen| together(self, chosen)).collect();
        Some(claims.into_iter().reduce(|a, b| Claim::Or(Box::new(a), Box::new(b))).unwrap_or(Claim::Never))
    }

    /// `P(0)@l && P(2)@l`
    pub(super) fn in_words(&self, members: &Members, condition: &Expr) -> Option<(Span, String)> {
        let mut all = Vec::new();
        must_hold(condition, &mut all);
        let it = compared(all.into_iter().find(|it| it.span == members.span)?)?;
        let at = |&i: &usize| format!("{}@{}", self.known.globals.members[i].name(), it.label.text);
        Some((members.span, members.chosen.iter().map(at).collect::<Vec<_>>().join(" && ")))
    }

    /// The sets of members that are enough, none larger than it need be; nothing if that was a mistake.
    fn choices(&mut self, it: Compared<'_>, span: Span) -> Option<Vec<Vec<usize>>> {
        let members = self.threads(it.thread);
        let (number, _) = constant(self.log, &self.environment, it.number)?;
        if !matches!(it.op, BinaryOp::Ge | BinaryOp::Gt) {
            let message = format!("a count with `{}`", it.op.symbol());
            let help = "say how many threads are too many: `#P@l >= 2`; a property says where it is bad to be, not \
                        where nobody is";
            self.log.error(span, message, help);
            return None;
        }
        let at_least = number.saturating_add(i64::from(it.op == BinaryOp::Gt));
        let Some(at_least) = usize::try_from(at_least).ok().filter(|&it| it > 0) else {
            self.log.error(span, "this count is always reached", "count at least one thread: `#P@l >= 1`");
            return None;
        };
        if at_least > members.len() {
            return Some(Vec::new());
        }
        if n_choices(members.len(), at_least) > MAX_SITUATIONS {
            let message = format!("there are more than {MAX_SITUATIONS} choices of so many threads");
            self.log.error(span, message, "use a smaller family, or a smaller number");
            return None;
        }
        let mut out = Vec::new();
        choose(&members, at_least, &mut Vec::new(), &mut out);
        Some(out)
    }
}

/// Whether a count occurs.
pub(super) fn has_count(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Count(..) => true,
        ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => has_count(inner),
        ExprKind::Binary(_, left, right) | ExprKind::Shift(_, left, right) => has_count(left) || has_count(right),
        ExprKind::Conditional(it) => [&it.condition, &it.then, &it.otherwise].into_iter().any(has_count),
        ExprKind::Call(_, arguments) => arguments.iter().any(has_count),
        ExprKind::Int(_) | ExprKind::Based(..) | ExprKind::Bool(_) | ExprKind::Any(_) => false,
        ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::At(..) | ExprKind::Member(..) => false,
    }
}

/// A count beside a number, with the count on the left.
fn compared(expr: &Expr) -> Option<Compared<'_>> {
    let ExprKind::Binary(op, left, right) = &expr.kind else { return None };
    match (&left.kind, &right.kind) {
        (ExprKind::Count(thread, label), _) if is_comparison(*op) && !has_count(right) => {
            Some(Compared { thread, label, op: *op, number: right })
        }
        (_, ExprKind::Count(thread, label)) if is_comparison(*op) && !has_count(left) => {
            Some(Compared { thread, label, op: turned(*op), number: left })
        }
        _ => None,
    }
}

/// The counts that must all hold.
fn must_hold<'e>(expr: &'e Expr, out: &mut Vec<&'e Expr>) {
    if let ExprKind::Paren(inner) = &expr.kind {
        must_hold(inner, out);
    } else if let ExprKind::Binary(BinaryOp::And, left, right) = &expr.kind {
        must_hold(left, out);
        must_hold(right, out);
    } else {
        out.extend(compared(expr).map(|_| expr));
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
}

/// The same with the operands exchanged.
fn turned(op: BinaryOp) -> BinaryOp {
    const PAIRS: [(BinaryOp, BinaryOp); 2] = [(BinaryOp::Lt, BinaryOp::Gt), (BinaryOp::Le, BinaryOp::Ge)];
    let of = |&(a, b): &(BinaryOp, BinaryOp)| [(a, b), (b, a)].into_iter().find(|it| it.0 == op).map(|it| it.1);
    PAIRS.iter().find_map(of).unwrap_or(op)
}

/// How many ways there are to choose `k` of `n`.
fn n_choices(n: usize, k: usize) -> usize {
    (0..k).fold(1_usize, |all, i| all.saturating_mul(n.saturating_sub(i)) / (i + 1))
}

fn choose(from: &[usize], n: usize, chosen: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
    heed(2);
    if n == 0 {
        return out.push(chosen.clone());
    }
    for (i, &member) in from.iter().enumerate().take((from.len() + 1).saturating_sub(n)) {
        chosen.push(member);
        choose(&from[i + 1..], n - 1, chosen, out);
        chosen.pop();
    }
}
