//! Candidates: the fences that a programmer may write.
//!
//! A candidate is a set of positions that come together, since they are beside one operation of the text, of which
//! members of a family, unrolled loops and inlined calls have copies. By process, each process has a text of its own,
//! and only the copies within it come together.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use super::loops::depths;
use crate::index_type;
use crate::program::{
    EdgeId, FenceKind, Op, OperationId, PointId, Position, ProcessId, Program, Side, Strengthening, TemplateId,
};
use crate::source::Span;
use crate::util::IndexVec;

index_type!(
    /// A candidate, in the order of the text.
    pub CandidateId
);

/// Where fences may stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FencePlace {
    /// After each store.
    AfterStores,
    /// Before each load.
    BeforeLoads,
    /// After each store, and before each load and each atomic update.
    Anywhere,
    /// At these labels.
    Labels(Vec<String>),
}

/// Those that have a name.
const NAMED: [(&str, FencePlace); 3] = [
    ("after-stores", FencePlace::AfterStores),
    ("before-loads", FencePlace::BeforeLoads),
    ("anywhere", FencePlace::Anywhere),
];

impl FromStr for FencePlace {
    type Err = &'static str;

    /// By its name, or labels with commas.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some((_, place)) = NAMED.into_iter().find(|(name, _)| *name == text) {
            return Ok(place);
        }
        let labels: Vec<_> = text.split(',').map(|it| it.trim().to_owned()).collect();
        if labels.iter().any(String::is_empty) {
            return Err("write `after-stores`, `before-loads`, `anywhere`, or labels with commas");
        }
        Ok(Self::Labels(labels))
    }
}

impl fmt::Display for FencePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AfterStores => f.write_str("after-stores"),
            Self::BeforeLoads => f.write_str("before-loads"),
            Self::Anywhere => f.write_str("anywhere"),
            Self::Labels(labels) => f.write_str(&labels.join(",")),
        }
    }
}

/// Who shares a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// All copies of a place of the text.
    Source,
    /// The copies within one process.
    Process,
}

impl FromStr for By {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "source" => Ok(Self::Source),
            "process" => Ok(Self::Process),
            _ => Err("write `source` or `process`"),
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Source => "source",
            Self::Process => "process",
        })
    }
}

/// One fence that a programmer may write, or an order that may become stronger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Where it lies in the program; at least one position, in order.
    pub positions: Vec<Position>,
    /// The operation it stands beside.
    pub span: Span,
    /// On which side of it.
    pub side: Side,
    /// The processes that get it: a member by process, families by source.
    pub owner: String,
    /// How often it is written and run: ten times for each loop around it, for each copy.
    pub weight: u64,
    /// The order that becomes stronger, if it is no fence of its own; the positions are then those that a full fence
    /// lies at, none for an update.
    pub order: Option<Strengthening>,
}

impl Candidate {
    /// The fences that it lays over a program when it is as strong as this kind.
    pub fn lays(&self, kind: FenceKind) -> impl Iterator<Item = (Position, FenceKind)> + '_ {
        let is_laid = self.order.is_none() || kind == FenceKind::Full;
        let before = self.order.iter().flat_map(|it| &it.before).map(|&at| (at, FenceKind::StoreStore));
        before.chain(self.positions.iter().filter(move |_| is_laid).map(move |&at| (at, kind)))
    }

    /// Every position that it may lay a fence at, with how weak it may be then, and the strongest fence that lies
    /// there.
    pub fn reaches(&self) -> impl Iterator<Item = (Position, FenceKind, FenceKind)> + '_ {
        let weakest = if self.order.is_some() { FenceKind::Full } else { FenceKind::StoreStore };
        let before = self.order.iter().flat_map(|it| &it.before);
        let before = before.map(|&at| (at, FenceKind::StoreStore, FenceKind::StoreStore));
        before.chain(self.positions.iter().map(move |&at| (at, weakest, FenceKind::Full)))
    }

    /// The first position that it lies at.
    pub fn first(&self) -> Position {
        self.reaches().map(|it| it.0).next().expect("a candidate lies somewhere")
    }
}

/// A label that the program does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLabel {
    /// The label.
    pub label: String,
    /// Those it has.
    pub known: Vec<String>,
}

/// What positions of one candidate have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Beside {
    /// Copies of a label of a thread.
    Label(TemplateId, String),
    /// Copies of an operation.
    Operation(OperationId),
}

/// What makes positions one candidate; by process, also whose they are.
type Key = (Option<ProcessId>, Beside, Side);

/// All candidates of a program.
///
/// # Errors
/// A label that the program does not have.
pub fn candidates(
    program: &Program,
    place: &FencePlace,
    by: By,
) -> Result<IndexVec<CandidateId, Candidate>, UnknownLabel> {
    let mut groups: BTreeMap<Key, Vec<Position>> = BTreeMap::new();
    let process = |edge: EdgeId| (by == By::Process).then(|| program.edges()[edge].process);
    match place {
        FencePlace::Labels(labels) => {
            for (label, edge) in labelled(program, labels)? {
                let template = program.processes()[program.edges()[edge].process].template;
                let key = (process(edge), Beside::Label(template, label.to_owned()), Side::Before);
                groups.entry(key).or_default().push(Position { edge, side: Side::Before });
            }
        }
        FencePlace::AfterStores | FencePlace::BeforeLoads | FencePlace::Anywhere => {
            let all = program.edges().iter_enumerated();
            for (edge, side) in all.filter_map(|(edge, it)| Some((edge, side_of(place, &it.op)?))) {
                let key = (process(edge), Beside::Operation(program.edges()[edge].operation), side);
                groups.entry(key).or_default().push(Position { edge, side });
            }
        }
    }
    let weigh = weigh(program);
    let mut all: Vec<_> = groups
        .into_iter()
        .map(|((process, _, side), positions)| Candidate {
            span: positions.iter().map(|it| program.edges()[it.edge].span).min().expect("a group has a position"),
            side,
            owner: owner(program, process, &positions),
            weight: weigh(&positions),
            positions,
            order: None,
        })
        .collect();
    if *place == FencePlace::Anywhere {
        drop_equal(program, &mut all);
    }
    all.sort_by_key(|it| (it.span.start, it.side, it.positions[0]));
    Ok(all.into_iter().collect())
}

fn side_of(place: &FencePlace, op: &Op) -> Option<Side> {
    let is_asked = |places: &[FencePlace]| places.contains(place);
    match op {
        Op::Store(..) if is_asked(&[FencePlace::AfterStores, FencePlace::Anywhere]) => Some(Side::After),
        Op::Load(..) if is_asked(&[FencePlace::BeforeLoads, FencePlace::Anywhere]) => Some(Side::Before),
        Op::Rmw { .. } if is_asked(&[FencePlace::Anywhere]) => Some(Side::Before),
        Op::Store(..) | Op::Load(..) | Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => None,
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => None,
    }
}

/// The edges that leave labelled points.
fn labelled<'a>(program: &Program, labels: &'a [String]) -> Result<Vec<(&'a str, EdgeId)>, UnknownLabel> {
    let known: BTreeSet<_> = program.points().iter().flat_map(|point| &point.labels).collect();
    let mut out = Vec::new();
    for label in labels {
        if !known.contains(label) {
            let known = known.into_iter().cloned().collect();
            return Err(UnknownLabel { label: label.clone(), known });
        }
        let points = program.points().iter().filter(|point| point.labels.contains(label));
        out.extend(points.flat_map(|point| &point.edges).map(|&edge| (label.as_str(), edge)));
    }
    Ok(out)
}

/// How often what lies at some positions is written and run.
pub(super) fn weigh(program: &Program) -> impl Fn(&[Position]) -> u64 + '_ {
    let weights = depths(program);
    move |positions| once_each(program, positions).map(|it| 10_u64.pow(weights[it.edge].min(6))).sum()
}

pub(super) fn owner(program: &Program, process: Option<ProcessId>, positions: &[Position]) -> String {
    if let Some(process) = process {
        return program.processes()[process].name.clone();
    }
    let mut families: Vec<&str> = Vec::new();
    for position in positions {
        let family = program.family(&program.processes()[program.edges()[position.edge].process]);
        if !families.contains(&family) {
            families.push(family);
        }
    }
    families.join(", ")
}

/// Fences before several edges that leave one point are one fence.
fn once_each<'a>(program: &'a Program, positions: &'a [Position]) -> impl Iterator<Item = &'a Position> {
    let mut seen = BTreeSet::new();
    positions.iter().filter(move |it| it.side == Side::After || seen.insert(program.edges()[it.edge].from))
}

/// Leaves out a place before an operation that is the same as one after an earlier store: nothing but local steps lies
/// between, with no way in or out and no label that a property could look at.
fn drop_equal(program: &Program, all: &mut Vec<Candidate>) {
    let mut n_incoming: IndexVec<PointId, u32> = IndexVec::filled(program.points().len(), 0);
    program.edges().iter().for_each(|edge| n_incoming[edge.to] += 1);
    program.processes().iter().for_each(|process| n_incoming[process.entry] += 1);
    let mut equal: BTreeMap<Position, Position> = BTreeMap::new();
    for store in all.iter().filter(|it| it.side == Side::After).flat_map(|it| &it.positions) {
        let mut at = program.edges()[store.edge].to;
        while n_incoming[at] == 1 && program.points()[at].labels.is_empty() {
            let edges = &program.points()[at].edges;
            equal.extend(edges.iter().map(|&edge| (Position { edge, side: Side::Before }, *store)));
            let [edge] = edges[..] else { break };
            if !program.edges()[edge].op.is_local() {
                break;
            }
            at = program.edges()[edge].to;
        }
    }
    let stores: BTreeSet<Vec<Position>> =
        all.iter().filter(|it| it.side == Side::After).map(|it| it.positions.clone()).collect();
    all.retain(|it| {
        let images: Option<BTreeSet<Position>> = it.positions.iter().map(|it| equal.get(it).copied()).collect();
        !images.is_some_and(|images| stores.contains(&images.into_iter().collect::<Vec<_>>()))
    });
}
