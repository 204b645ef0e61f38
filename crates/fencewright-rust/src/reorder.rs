//! Other orders in Rust: the argument that says the order.
//!
//! ```rust,ignore
//! X.store(1, Ordering::Relaxed);     // Ordering::Release, Ordering::SeqCst
//! X.store(1, Relaxed);               // Ordering::Release, if `Ordering` is known, otherwise a full path
//! ```

use fencewright::frontend::rewrite::{Edit, Reorder};
use fencewright::program::Order;
use fencewright::source::Span;

use crate::ast::{Expr, ExprKind, Path};
use crate::lower::{order_argument, order_path};
use crate::rewrite::Whole;

/// An access whose order can be changed.
struct Site {
    access: Span,
    order: Path,
    /// That for where it fails.
    failure: Option<Path>,
    is_fence: bool,
}

/// The accesses whose orders can be changed.
pub(crate) fn accesses(tree: &Whole) -> Vec<Span> {
    sites(tree).iter().filter(|it| !it.is_fence).map(|it| it.access).collect()
}

/// The edits that write other orders; the first that cannot be written if there is one.
pub(crate) fn edits(tree: &Whole, orders: &[Reorder]) -> Result<Vec<Edit>, usize> {
    let sites = sites(tree);
    let mut edits = Vec::new();
    for (i, order) in orders.iter().enumerate() {
        match sites.iter().find(|it| it.access == order.access) {
            Some(site) => {
                let mut write = |path: &Path, order: Order| {
                    edits.push(Edit::Replace { span: path.span, text: spelled(path, order, tree) });
                };
                if order.from != order.to {
                    write(&site.order, order.to);
                }
                match (&site.failure, order.failure) {
                    (Some(path), Some(order)) => write(path, order),
                    (None, Some(_)) => return Err(i),
                    (_, None) => {}
                }
            }
            None if order.is_companion => {}
            None => return Err(i),
        }
    }
    Ok(edits)
}

fn sites(tree: &Whole) -> Vec<Site> {
    let mut found = Vec::new();
    tree.each(&mut |it: &Expr| match &it.kind {
        ExprKind::Method(method) => {
            let Some(at) = order_argument(&method.name.text) else { return };
            if let Some(path) = method.arguments.get(at).and_then(order_path) {
                let failure = method.arguments.get(at + 1).and_then(order_path).cloned();
                found.push(Site { access: it.span, order: path.clone(), failure, is_fence: false });
            }
        }
        ExprKind::Call(function, arguments) => {
            let is_fence = matches!(&function.kind, ExprKind::Path(path) if path.last() == "fence");
            if let (true, Some(path)) = (is_fence, arguments.first().and_then(order_path)) {
                found.push(Site { access: it.span, order: path.clone(), failure: None, is_fence });
            }
        }
        _ => {}
    });
    found
}

/// An order as it is written where another one stands.
fn spelled(path: &Path, order: Order, tree: &Whole) -> String {
    let name = match order {
        Order::Acquire => "Acquire",
        Order::Release => "Release",
        Order::AcqRel => "AcqRel",
        Order::SeqCst => "SeqCst",
        _ => "Relaxed",
    };
    let before: Vec<&str> = path.segments.iter().rev().skip(1).rev().map(|it| it.name.as_str()).collect();
    if before.is_empty() { tree.order(name, path.span) } else { format!("{}::{name}", before.join("::")) }
}
