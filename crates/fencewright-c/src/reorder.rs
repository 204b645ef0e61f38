//! Other orders in C: the argument that says the order, a function that takes one, or another macro of Linux.
//!
//! ```c
//! atomic_store_explicit(&x, 1, memory_order_relaxed);     memory_order_release, memory_order_seq_cst
//! atomic_store(&x, 1);                                    atomic_store_explicit(&x, 1, memory_order_release);
//! WRITE_ONCE(x, 1);                                       smp_store_release(&x, 1); smp_store_mb(x, 1);
//! r = READ_ONCE(x);                                       r = smp_load_acquire(&x);
//! xchg_relaxed(&x, 1);                                    xchg(&x, 1);
//! ```
//!
//! Nothing in the body of a macro is changed: it would change every use.

use fencewright::frontend::rewrite::{Edit, Reorder, Text};
use fencewright::program::Order;
use fencewright::source::{Source, Span};

use crate::ast::{Expr, ExprKind, Name, Unit};
use crate::lower::order_argument;
use crate::walk;

/// How the order of an access is written.
enum Written<'a> {
    /// As an argument; that for where it fails, if there is one, is another.
    Argument(Span, Option<Span>),
    /// As an argument of a fence.
    Fence(Span),
    /// By a function that is seq_cst, up to the end of its call; whether it may fail.
    Nowhere { name: &'a Name, end: u32, may_fail: bool },
    /// By the name of a macro, with the variable as its first argument.
    Macro(&'a Name, &'a Expr),
}

/// An access whose order can be changed.
struct Site<'a> {
    access: Span,
    written: Written<'a>,
}

/// The accesses whose orders can be changed.
pub(crate) fn accesses(tree: &Unit, source: &Source) -> Vec<Span> {
    let is_said = |it: &&Site<'_>| match it.written {
        Written::Argument(..) | Written::Macro(..) => true,
        Written::Fence(_) | Written::Nowhere { .. } => false,
    };
    sites(tree, source).iter().filter(is_said).map(|it| it.access).collect()
}

/// The edits that write other orders; the first that cannot be written if there is one. A companion that the text has
/// no words for is left out.
pub(crate) fn edits(tree: &Unit, text: &Text<'_>, orders: &[Reorder]) -> Result<Vec<Edit>, usize> {
    let sites = sites(tree, text.source);
    let mut edits = Vec::new();
    for (i, order) in orders.iter().enumerate() {
        let written = sites.iter().find(|it| it.access == order.access).and_then(|it| it.write(order, text.source));
        match written {
            Some(written) => edits.extend(written),
            None if order.is_companion => {}
            None => return Err(i),
        }
    }
    Ok(edits)
}

fn sites<'a>(tree: &'a Unit, source: &Source) -> Vec<Site<'a>> {
    let mut found: Vec<Site<'a>> = Vec::new();
    walk::expressions(tree, &mut |it| {
        if let Some(written) = written(it, source) {
            found.push(Site { access: it.span, written });
        }
    });
    found
}

fn written<'a>(it: &'a Expr, source: &Source) -> Option<Written<'a>> {
    let ExprKind::Call(function, arguments) = &it.kind else { return None };
    let ExprKind::Name(name) = &function.kind else { return None };
    if it.is_in_macro || source.slice(name.span) != name.text {
        return None;
    }
    if stronger(&name.text, Order::SeqCst).or(stronger(&name.text, Order::Acquire)).is_some() {
        return Some(Written::Macro(name, arguments.first()?));
    }
    if matches!(&name.text[..], "atomic_thread_fence" | "__atomic_thread_fence") {
        return constant(arguments.first()?, source).map(Written::Fence);
    }
    if name.text.starts_with("atomic_") && order_argument(&format!("{}_explicit", name.text)).is_some() {
        let end = it.span.end.checked_sub(1).filter(|_| source.slice(it.span).ends_with(')'))?;
        return Some(Written::Nowhere { name, end, may_fail: name.text.contains("compare_exchange") });
    }
    let at = order_argument(&name.text)?;
    let failure = arguments.get(at + 1).and_then(|it| constant(it, source));
    constant(arguments.get(at)?, source).map(|order| Written::Argument(order, failure))
}

/// Where a constant stands that is an order. A macro of the user for the order is replaced where it is used, if that is
/// one word.
fn constant(order: &Expr, source: &Source) -> Option<Span> {
    let ExprKind::Name(constant) = &order.kind else { return None };
    let is_order = constant.text.starts_with("memory_order_") || constant.text.starts_with("__ATOMIC_");
    let is_word = source.slice(order.span).chars().all(|it| it.is_alphanumeric() || it == '_');
    (is_order && is_word && !is_called(source, order.span)).then_some(order.span)
}

/// Whether parentheses follow, so that the word is only the name of a macro with arguments.
fn is_called(source: &Source, span: Span) -> bool {
    let file = source.file_of(span.start);
    file.text()[(span.end - file.start()) as usize..].trim_start().starts_with('(')
}

/// The macro of Linux that does the same with a stronger order, and whether it takes an address where this one takes
/// the variable.
fn stronger(name: &str, order: Order) -> Option<(&'static str, bool)> {
    Some(match (name, order) {
        ("WRITE_ONCE", Order::Release) => ("smp_store_release", true),
        ("WRITE_ONCE", Order::SeqCst) => ("smp_store_mb", false),
        ("READ_ONCE", Order::Acquire) => ("smp_load_acquire", true),
        ("xchg_relaxed" | "xchg_acquire" | "xchg_release", Order::AcqRel | Order::SeqCst) => ("xchg", false),
        ("xchg_relaxed", Order::Acquire) => ("xchg_acquire", false),
        ("cmpxchg_relaxed" | "cmpxchg_acquire" | "cmpxchg_release", Order::AcqRel | Order::SeqCst) => {
            ("cmpxchg", false)
        }
        ("cmpxchg_relaxed", Order::Acquire) => ("cmpxchg_acquire", false),
        _ => return None,
    })
}

impl Site<'_> {
    fn write(&self, order: &Reorder, source: &Source) -> Option<Vec<Edit>> {
        match self.written {
            Written::Argument(span, failure) => {
                let mut edits = Vec::new();
                if order.from != order.to {
                    edits.push(spelled(span, order.to, source));
                }
                if let Some(to) = order.failure {
                    edits.push(spelled(failure?, to, source));
                }
                Some(edits)
            }
            Written::Fence(span) => Some(vec![spelled(span, order.to, source)]),
            Written::Nowhere { name, end, may_fail } => {
                let mut orders = format!(", memory_order_{}", order.to.name());
                if may_fail {
                    let failure = order.failure.unwrap_or(order.from);
                    orders += &format!(", memory_order_{}", failure.of_read().name());
                }
                let explicit = Edit::Insert { at: name.span.end, text: "_explicit".to_owned() };
                Some(vec![explicit, Edit::Insert { at: end, text: orders }])
            }
            Written::Macro(name, first) => {
                let (text, takes_address) = stronger(&name.text, order.to)?;
                let mut edits = vec![Edit::Replace { span: name.span, text: text.to_owned() }];
                edits.extend(takes_address.then(|| Edit::Insert { at: first.span.start, text: "&".to_owned() }));
                Some(edits)
            }
        }
    }
}

/// An order in place of the one that stands there, spelled as it is.
fn spelled(span: Span, order: Order, source: &Source) -> Edit {
    let (name, is_gcc) = (order.name(), source.slice(span).starts_with("__ATOMIC_"));
    let text = if is_gcc { format!("__ATOMIC_{}", name.to_uppercase()) } else { format!("memory_order_{name}") };
    Edit::Replace { span, text }
}
