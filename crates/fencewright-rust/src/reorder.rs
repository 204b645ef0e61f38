//! Stronger orders in Rust: the argument that says the order.
//!
//! ```rust,ignore
//! X.store(1, Ordering::Relaxed);     // Ordering::Release, Ordering::SeqCst
//! X.store(1, Relaxed);               // Ordering::Release, if `Ordering` is known, otherwise a full path
//! ```

use fencewright::frontend::rewrite::{Edit, Reorder};
use fencewright::program::Order;
use fencewright::source::{Source, Span};

use crate::ast::{Expr, ExprKind, Path};
use crate::lower::{order_argument, order_path};
use crate::rewrite::Whole;

/// An access whose order can be changed.
struct Site {
    access: Span,
    order: Path,
}

/// The accesses whose orders can be changed.
pub(crate) fn accesses(tree: &Whole) -> Vec<Span> {
    sites(tree).iter().map(|it| it.access).collect()
}

/// The edits that write other orders; the first that cannot be written if there is one.
pub(crate) fn edits(tree: &Whole, source: &Source, orders: &[Reorder]) -> Result<Vec<Edit>, usize> {
    let sites = sites(tree);
    let mut edits = Vec::new();
    for (i, order) in orders.iter().enumerate() {
        match sites.iter().find(|it| it.access == order.access) {
            Some(site) => {
                let text = spelled(&site.order, order.to, source);
                edits.push(Edit::Replace { span: site.order.span, text });
            }
            None if order.is_companion => {}
            None => return Err(i),
        }
    }
    Ok(edits)
}

fn sites(tree: &Whole) -> Vec<Site> {
    let mut found = Vec::new();
    tree.each(&mut |it: &Expr| {
        let ExprKind::Method(method) = &it.kind else { return };
        let Some(at) = order_argument(&method.name.text) else { return };
        if let Some(path) = method.arguments.get(at).and_then(order_path) {
            found.push(Site { access: it.span, order: path.clone() });
        }
    });
    found
}

/// An order as it is written where another one stands.
fn spelled(path: &Path, order: Order, source: &Source) -> String {
    let name = match order {
        Order::Acquire => "Acquire",
        Order::Release => "Release",
        Order::AcqRel => "AcqRel",
        Order::SeqCst => "SeqCst",
        _ => "Relaxed",
    };
    let before = &path.segments[..path.segments.len() - 1];
    if before.is_empty() {
        // The short name may not be imported.
        let file = source.file_of(path.span.start).text();
        let is_known = is_word_used(file, name) || file.contains("Ordering::*");
        return if is_known { name.to_owned() } else { format!("std::sync::atomic::Ordering::{name}") };
    }
    let before: Vec<&str> = before.iter().map(|it| it.name.as_str()).collect();
    format!("{}::{name}", before.join("::"))
}

/// Whether a `use` of the text names a word.
fn is_word_used(text: &str, word: &str) -> bool {
    let uses = text.split(';').filter(|it| it.contains("use ") && it.contains("Ordering"));
    uses.into_iter().any(|it| it.split(|c: char| !c.is_alphanumeric() && c != '_').any(|it| it == word))
}
