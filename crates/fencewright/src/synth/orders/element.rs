//! What may be chosen: an order of an access of the text, or a fence.

use std::collections::BTreeMap;

use crate::program::{EdgeId, FenceKind, Op, Order, Placement, Position, Program, Side};
use crate::source::Span;
use crate::synth::Profile;

/// What an element makes stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// The access acquires.
    Acquire,
    /// It releases.
    Release,
    /// It is seq_cst, if it acquires and releases as far as it can.
    SeqCst,
    /// There is a seq_cst fence before it.
    FenceBefore,
    /// The fence of the text, with its order, is there.
    Fence(Order),
}

/// Something that may be chosen, for all copies of a place of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// The place.
    pub span: Span,
    /// The edges.
    pub edges: Vec<EdgeId>,
    /// What becomes stronger.
    pub strength: Strength,
}

impl Element {
    /// What it costs on a machine. At least 1, so that nothing is chosen for nothing.
    pub fn cost(&self, program: &Program, profile: Profile) -> u64 {
        let writes = self.edges.iter().any(|&edge| matches!(program.edges()[edge].op, Op::Store(..)));
        match (self.strength, profile) {
            (Strength::Acquire | Strength::Release, Profile::X86) => 1,
            (Strength::Acquire | Strength::Release, Profile::Arm) => 2,
            (Strength::SeqCst, Profile::X86) if writes => 30,
            (Strength::SeqCst, _) => 1,
            (Strength::FenceBefore | Strength::Fence(Order::SeqCst), Profile::X86) => 30,
            (Strength::Fence(_), Profile::X86) => 1,
            (Strength::FenceBefore | Strength::Fence(_), Profile::Arm) => 10,
        }
    }
}

/// The atomic accesses of the text that say an order. What says none (an assignment, a mutex of a library) is not for
/// somebody to choose, and stays as it is.
fn accesses(program: &Program) -> BTreeMap<Span, Vec<EdgeId>> {
    let mut all: BTreeMap<Span, Vec<EdgeId>> = BTreeMap::new();
    for (id, edge) in program.edges().iter_enumerated() {
        let (Op::Load(_, place) | Op::Store(place, _) | Op::Rmw { place, .. }) = &edge.op else { continue };
        let says = program.source().get(edge.span).is_some_and(|text| text.to_lowercase().contains("acq_rel"));
        if !program.is_plain(place) && (says || edge.order != Order::default()) {
            all.entry(edge.span).or_default().push(id);
        }
    }
    all
}

/// The fences of the text, with their orders.
fn fences(program: &Program) -> BTreeMap<Span, (Order, Vec<EdgeId>)> {
    let mut all: BTreeMap<Span, (Order, Vec<EdgeId>)> = BTreeMap::new();
    for (id, edge) in program.edges().iter_enumerated() {
        if let Some(order) = edge.fence_order() {
            all.entry(edge.span).or_insert((order, Vec::new())).1.push(id);
        }
    }
    all
}

/// Whether some of the edges read, and whether some write.
fn does(program: &Program, edges: &[EdgeId]) -> (bool, bool) {
    let of = |is: fn(&Op) -> bool| edges.iter().any(|&edge| is(&program.edges()[edge].op));
    (
        of(|op| matches!(op, Op::Load(..) | Op::Rmw { .. })),
        of(|op| matches!(op, Op::Store(..) | Op::Rmw { write: Some(_), .. })),
    )
}

/// What the program has: each order and each fence that may be left out.
pub fn own_elements(program: &Program) -> Vec<Element> {
    let mut all = Vec::new();
    for (span, edges) in accesses(program) {
        let (reads, writes) = does(program, &edges);
        let order = edges.iter().map(|&edge| program.edges()[edge].order).fold(Order::Relaxed, Order::join);
        let mut add = |strength| all.push(Element { span, edges: edges.clone(), strength });
        if reads && order.acquires() {
            add(Strength::Acquire);
        }
        if writes && order.releases() {
            add(Strength::Release);
        }
        if order == Order::SeqCst {
            add(Strength::SeqCst);
        }
    }
    all.extend(fences(program).into_iter().map(own_fence));
    all
}

fn own_fence((span, (order, edges)): (Span, (Order, Vec<EdgeId>))) -> Element {
    Element { span, edges, strength: Strength::Fence(order) }
}

/// What every access may be given, and the fences that are there; fences before accesses besides, if they are wanted.
pub fn stronger_elements(program: &Program, with_fences: bool) -> Vec<Element> {
    let mut all = Vec::new();
    for (span, edges) in accesses(program) {
        let (reads, writes) = does(program, &edges);
        let mut add = |strength| all.push(Element { span, edges: edges.clone(), strength });
        if reads {
            add(Strength::Acquire);
        }
        if writes {
            add(Strength::Release);
        }
        if with_fences {
            add(Strength::FenceBefore);
        }
    }
    all.extend(fences(program).into_iter().map(own_fence));
    all
}

/// The order that a choice gives to an access or a fence; `None` for a fence that it leaves out, and what is neither.
/// seq_cst comes on top of what is below it, so that of two choices the stronger one has more elements.
pub fn order_of(elements: &[Element], set: &[usize], edge: EdgeId) -> Option<Order> {
    let (mut order, mut is_sc, mut lacks) = (None, false, false);
    for (i, element) in elements.iter().enumerate().filter(|it| it.1.edges.contains(&edge)) {
        let with = match element.strength {
            Strength::Acquire => Order::Acquire,
            Strength::Release => Order::Release,
            Strength::Fence(order) => order,
            Strength::SeqCst => {
                is_sc = set.contains(&i);
                continue;
            }
            Strength::FenceBefore => continue,
        };
        match set.contains(&i) {
            true => order = Some(order.map_or(with, |it: Order| it.join(with))),
            false => lacks = true,
        }
    }
    if is_sc && !lacks { Some(Order::SeqCst) } else { order }
}

/// Whether a choice puts a fence before an access.
pub fn is_fenced(elements: &[Element], set: &[usize], edge: EdgeId) -> bool {
    let mut mine = set.iter().map(|&i| &elements[i]);
    mine.any(|it| it.strength == Strength::FenceBefore && it.edges.contains(&edge))
}

/// Whether a choice says what order an access or a fence has. Others keep theirs.
pub(super) fn is_open(elements: &[Element], edge: EdgeId) -> bool {
    elements.iter().any(|it| it.strength != Strength::FenceBefore && it.edges.contains(&edge))
}

/// The program with a choice, and the fences over it.
pub(super) fn chosen(program: &Program, elements: &[Element], set: &[usize]) -> (Program, Placement) {
    let edges = || elements.iter().flat_map(|it| it.edges.iter().copied());
    let open = edges().filter(|&edge| is_open(elements, edge));
    let orders = open.map(|edge| (edge, order_of(elements, set, edge).unwrap_or(Order::Relaxed))).collect();
    let fenced = edges().filter(|&edge| is_fenced(elements, set, edge));
    let laid = fenced.map(|edge| (Position { edge, side: Side::Before }, FenceKind::Full));
    (program.with_orders(&orders), laid.collect())
}
