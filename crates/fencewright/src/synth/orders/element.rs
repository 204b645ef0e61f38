//! What may be chosen: an order of an access of the text, or a fence.

use std::collections::BTreeMap;

use crate::program::{Edge, EdgeId, FenceKind, Op, Order, Placement, Position, Program, Side};
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
    /// The fence of the text acquires.
    FenceAcquire,
    /// It releases.
    FenceRelease,
    /// It is seq_cst, if it acquires and releases.
    FenceSeqCst,
}

impl Strength {
    /// Whether it is about a fence, one of the text or a new one.
    pub const fn is_of_fence(self) -> bool {
        match self {
            Self::FenceBefore | Self::FenceAcquire | Self::FenceRelease | Self::FenceSeqCst => true,
            Self::Acquire | Self::Release | Self::SeqCst => false,
        }
    }
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
            (Strength::FenceBefore, Profile::X86) => 30,
            (Strength::FenceSeqCst, Profile::X86) => 28,
            (Strength::FenceAcquire | Strength::FenceRelease, Profile::X86) => 1,
            (Strength::FenceBefore, Profile::Arm) => 10,
            (Strength::FenceAcquire, Profile::Arm) => 3,
            (Strength::FenceRelease, Profile::Arm) => 5,
            (Strength::FenceSeqCst, Profile::Arm) => 2,
        }
    }
}

/// The atomic accesses of the text that say an order. What says none (an assignment, a mutex of a library) is not for
/// somebody to choose, and stays as it is.
fn accesses(program: &Program) -> BTreeMap<Span, Vec<EdgeId>> {
    let mut all: BTreeMap<Span, Vec<EdgeId>> = BTreeMap::new();
    for (id, edge) in program.edges().iter_enumerated() {
        let (Op::Load(_, place) | Op::Store(place, _) | Op::Rmw { place, .. }) = &edge.op else { continue };
        if !program.is_plain(place) && says_order(program, edge) {
            all.entry(edge.span).or_default().push(id);
        }
    }
    all
}

/// Whether the text of an access says its order. Nobody says `seq_cst` or `relaxed` of what has no order; of what
/// acquires or releases, a name tells: that of the order, or of a function that takes one.
fn says_order(program: &Program, edge: &Edge) -> bool {
    const NAMES: [&str; 6] = ["acquire", "release", "acq", "rel", "acqrel", "atomic"];
    match edge.order {
        Order::Plain => false,
        Order::Relaxed | Order::SeqCst => true,
        Order::Acquire | Order::Release | Order::AcqRel => {
            let text = program.source().get(edge.span).unwrap_or_default().to_lowercase();
            text.split(|it: char| !it.is_alphanumeric()).any(|word| NAMES.contains(&word))
        }
    }
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

/// What the program has: each order and each fence that may be left out. Of an update that says another order for
/// where it fails, each keeps no more than its own.
pub fn own_elements(program: &Program) -> Vec<Element> {
    let mut all = Vec::new();
    for (span, edges) in accesses(program) {
        for strength in [Strength::Acquire, Strength::Release, Strength::SeqCst] {
            let edges: Vec<EdgeId> = edges.iter().copied().filter(|&edge| has(program, edge, strength)).collect();
            if !edges.is_empty() {
                all.push(Element { span, edges, strength });
            }
        }
    }
    all.extend(own_fences(program));
    all
}

/// Whether an access has this strength.
fn has(program: &Program, edge: EdgeId, strength: Strength) -> bool {
    let (reads, writes) = does(program, &[edge]);
    let order = program.edges()[edge].order;
    match strength {
        Strength::Acquire => reads && order.acquires(),
        Strength::Release => writes && order.releases(),
        Strength::SeqCst => order == Order::SeqCst,
        Strength::FenceBefore | Strength::FenceAcquire | Strength::FenceRelease | Strength::FenceSeqCst => false,
    }
}

/// What the fences of the text do.
fn own_fences(program: &Program) -> Vec<Element> {
    let parts = |(span, (order, edges)): (Span, (Order, Vec<EdgeId>))| {
        let does = [
            (order.acquires(), Strength::FenceAcquire),
            (order.releases(), Strength::FenceRelease),
            (order == Order::SeqCst, Strength::FenceSeqCst),
        ];
        let done = does.into_iter().filter(|it| it.0);
        done.map(move |(_, strength)| Element { span, edges: edges.clone(), strength })
    };
    fences(program).into_iter().flat_map(parts).collect()
}

/// What every access may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// An acquire, a release.
    Orders,
    /// And seq_cst.
    SeqCst,
    /// Instead of that a seq_cst fence before it.
    Fences,
}

/// What every access may be given, and the fences that are there.
pub fn stronger_elements(program: &Program, given: Given) -> Vec<Element> {
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
        match given {
            Given::Orders => {}
            Given::SeqCst => add(Strength::SeqCst),
            Given::Fences => add(Strength::FenceBefore),
        }
    }
    all.extend(own_fences(program));
    all
}

/// The order that a choice gives to an access or a fence; `None` for a fence that it leaves out, and what is neither.
/// seq_cst comes on top of what is below it, so that of two choices the stronger one has more elements.
pub fn order_of(elements: &[Element], set: &[usize], edge: EdgeId) -> Option<Order> {
    let (mut order, mut is_sc, mut lacks) = (None, false, false);
    for (i, element) in elements.iter().enumerate().filter(|it| it.1.edges.contains(&edge)) {
        let with = match element.strength {
            Strength::Acquire | Strength::FenceAcquire => Order::Acquire,
            Strength::Release | Strength::FenceRelease => Order::Release,
            Strength::SeqCst | Strength::FenceSeqCst => {
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
pub fn chosen(program: &Program, elements: &[Element], set: &[usize]) -> (Program, Placement) {
    let edges = || elements.iter().flat_map(|it| it.edges.iter().copied());
    let open = edges().filter(|&edge| is_open(elements, edge));
    let orders = open.map(|edge| (edge, order_of(elements, set, edge).unwrap_or(Order::Relaxed))).collect();
    let fenced = edges().filter(|&edge| is_fenced(elements, set, edge));
    let laid = fenced.map(|edge| (Position { edge, side: Side::Before }, FenceKind::Full));
    (program.with_orders(&orders), laid.collect())
}
