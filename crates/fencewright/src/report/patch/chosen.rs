//! A choice of memory orders written into the text: orders in place of others, fences that are new, weaker, or gone.
//!
//! The new text is read back and compared with the program and its choice as the language tells them ([`told`]): a
//! machine may get fewer fences from weaker orders.

use std::collections::BTreeMap;

use crate::frontend::rewrite::{Edit, Fence, NoPlace, Reorder, Rewrite, Text};
use crate::program::{EdgeId, FenceKind, Op, Order, Program, Side};
use crate::source::Span;
use crate::synth::orders::{Element, chosen, is_fenced, order_of};

use super::told::is_told_alike;
use super::{Original, Patched, Unwritable, read_back};

/// The text with a choice in it, by the numbers of its elements.
///
/// # Errors
/// The text has no place for it.
pub fn patch_with_choice(original: &Original<'_>, elements: &[Element], set: &[usize]) -> Result<Patched, Unwritable> {
    let program = original.program;
    let Some(rewrite) = original.frontend.rewrite() else {
        let message = format!("orders cannot be written in the language `{}`", original.frontend.name());
        return Err(Unwritable { message, help: "write them by hand".to_owned() });
    };
    let changes = Changes::of(program, elements, set);
    let text = Text { source: program.source(), defines: original.defines };
    let edits = changes.edits(program, rewrite, &text)?;
    let (wanted, placement) = chosen(program, elements, set);
    read_back(original, edits, |new| is_told_alike(&wanted, &placement, new)).ok_or_else(|| Unwritable {
        message: "the text with these orders does not mean what it should".to_owned(),
        help: "write them by hand: an access may stand in a macro, or share its line with others".to_owned(),
    })
}

/// What a choice changes in the text.
#[derive(Default)]
struct Changes {
    orders: Vec<Reorder>,
    /// Fences that are not needed.
    gone: Vec<Span>,
    /// Those that are new.
    fences: Vec<Fence>,
}

impl Changes {
    fn of(program: &Program, elements: &[Element], set: &[usize]) -> Self {
        let mut changes = Self::default();
        let mut edges: BTreeMap<Span, Vec<EdgeId>> = BTreeMap::new();
        for element in elements {
            edges.entry(element.span).or_default().extend(&element.edges);
        }
        for (span, edges) in edges {
            match edges.iter().find_map(|&edge| program.edges()[edge].fence_order()) {
                Some(from) => match order_of(elements, set, edges[0]) {
                    None => changes.gone.push(span),
                    Some(to) => changes.order(Reorder { access: span, from, to, failure: None, is_companion: false }),
                },
                None => changes.access(program, (elements, set), span),
            }
            if edges.iter().any(|&edge| is_fenced(elements, set, edge)) {
                changes.fences.push(Fence { beside: span, side: Side::Before, kind: FenceKind::Full });
            }
        }
        changes
    }

    fn order(&mut self, order: Reorder) {
        if order.from != order.to || order.failure.is_some() {
            self.orders.push(order);
        }
    }

    /// An access, which may be an update that fails with another order.
    fn access(&mut self, program: &Program, (elements, set): (&[Element], &[usize]), span: Span) {
        let edges = program.edges().iter_enumerated().filter(|(_, it)| it.span == span && is_access(&it.op));
        let edges: Vec<_> = edges.collect();
        let writes = |op: &Op| matches!(op, Op::Store(..) | Op::Rmw { write: Some(_), .. });
        let fails = |op: &Op| !writes(op) && edges.iter().any(|(_, it)| writes(&it.op));
        let is_open = |id: EdgeId| elements.iter().any(|it| !it.strength.is_of_fence() && it.edges.contains(&id));
        let [(from, to), (failure_from, failure_to)] = [false, true].map(|wanted| {
            let mine = edges.iter().filter(|(_, it)| fails(&it.op) == wanted);
            mine.fold((Order::Relaxed, Order::Relaxed), |(from, to), (id, it)| {
                let own = it.order.of(&it.op);
                let new = if is_open(*id) { order_of(elements, set, *id).unwrap_or(Order::Relaxed) } else { own };
                (from.join(own), to.join(new.of(&it.op)))
            })
        });
        let failure = (failure_from != failure_to).then_some(failure_to);
        self.order(Reorder { access: span, from, to, failure, is_companion: false });
    }

    fn edits(&self, program: &Program, rewrite: &dyn Rewrite, text: &Text<'_>) -> Result<Vec<Edit>, Unwritable> {
        let unwritable = |what: &str, span: Span, help: String| {
            let line = program.source().line_name(span);
            Unwritable { message: format!("the {what} at {line} cannot be written there"), help }
        };
        let mut edits = Vec::new();
        if let [first, ..] = &self.orders[..] {
            let written = rewrite.reorder(text, &self.orders).map_err(|NoPlace { fence, help }| {
                unwritable("order", self.orders.get(fence).unwrap_or(first).access, help)
            })?;
            edits.extend(written);
        }
        edits.extend(rewrite.without(text, &self.gone));
        if let [first, ..] = &self.fences[..] {
            let written = rewrite.edits(text, &self.fences).map_err(|NoPlace { fence, help }| {
                unwritable("fence", self.fences.get(fence).unwrap_or(first).beside, help)
            })?;
            edits.extend(written);
        }
        Ok(edits)
    }
}

fn is_access(op: &Op) -> bool {
    match op {
        Op::Load(..) | Op::Store(..) | Op::Rmw { .. } => true,
        Op::Fence(_) | Op::Locked(_) | Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => false,
    }
}
