//! Interchangeable processes, verified.
//!
//! Two processes are interchangeable if swapping them, together with some shared locations (`flag[0]` with
//! `flag[1]`), maps the program, its fences, its initial values and its properties onto themselves. The locations to
//! swap are read off the two texts walked in step; then everything is checked, so that a text that merely looks
//! symmetric (an order of identities, a fence on one side only) is refused.

use std::collections::BTreeSet;

use crate::program::{
    EdgeId, Expr, LocationId, Micro, Op, Place, Placement, PointId, ProcessId, Program, Side, Situation, StateVar,
};
use crate::util::IndexVec;
use crate::watch::heed;

/// A swap of two processes that maps the program onto itself; its own inverse.
#[derive(Clone, Debug)]
pub struct Swap {
    /// One of the two.
    pub first: ProcessId,
    /// The other.
    pub second: ProcessId,
    /// Where each location goes.
    pub locations: IndexVec<LocationId, LocationId>,
    /// Where each point goes.
    pub points: IndexVec<PointId, PointId>,
    /// Where each edge goes.
    pub edges: IndexVec<EdgeId, EdgeId>,
}

impl Swap {
    /// Where a process goes.
    pub fn process(&self, process: ProcessId) -> ProcessId {
        match process {
            it if it == self.first => self.second,
            it if it == self.second => self.first,
            it => it,
        }
    }
}

/// Verified swaps of neighboring members of each thread family.
pub fn swaps(program: &Program, placement: &Placement) -> Vec<Swap> {
    let processes: Vec<_> = program.processes().indices().collect();
    let is_family =
        |pair: &&[ProcessId]| program.processes()[pair[0]].template == program.processes()[pair[1]].template;
    let pairs = processes.windows(2).filter(is_family);
    pairs.filter_map(|pair| swap(program, placement, pair[0], pair[1])).collect()
}

fn swap(program: &Program, placement: &Placement, first: ProcessId, second: ProcessId) -> Option<Swap> {
    heed(16);
    let mut swap = Swap {
        first,
        second,
        locations: program.locations().indices().collect(),
        points: program.points().indices().collect(),
        edges: program.edges().indices().collect(),
    };
    walk(program, first, second, &mut |a, b| pair_locations(program, &mut swap.locations, a, b))?;
    for process in program.processes().indices() {
        let image = swap.process(process);
        let (mut points, mut edges) = (Vec::new(), Vec::new());
        walk(program, process, image, &mut |a, b| {
            edges.push((a, b));
            points.push((program.edges()[a].from, program.edges()[b].from));
            points.push((program.edges()[a].to, program.edges()[b].to));
            agrees(program, placement, &swap.locations, a, b)
        })?;
        points.into_iter().for_each(|(a, b)| swap.points[a] = b);
        edges.into_iter().for_each(|(a, b)| swap.edges[a] = b);
        swap.points[program.processes()[process].entry] = program.processes()[image].entry;
    }
    (keeps_data(program, &swap) && keeps_properties(program, &swap)).then_some(swap)
}

/// Walks two processes in step; `None` where their shapes differ or `visit` refuses a pair of edges.
fn walk(
    program: &Program,
    first: ProcessId,
    second: ProcessId,
    visit: &mut impl FnMut(EdgeId, EdgeId) -> bool,
) -> Option<()> {
    let start = (program.processes()[first].entry, program.processes()[second].entry);
    let mut images: IndexVec<PointId, Option<PointId>> = IndexVec::filled(program.points().len(), None);
    images[start.0] = Some(start.1);
    let mut todo = vec![start];
    while let Some((a, b)) = todo.pop() {
        let (a, b) = (&program.points()[a], &program.points()[b]);
        if a.edges.len() != b.edges.len() || a.is_end != b.is_end {
            return None;
        }
        for (&a, &b) in a.edges.iter().zip(&b.edges) {
            if !visit(a, b) {
                return None;
            }
            let (a, b) = (program.edges()[a].to, program.edges()[b].to);
            match images[a] {
                Some(image) if image == b => {}
                Some(_) => return None,
                None => {
                    images[a] = Some(b);
                    todo.push((a, b));
                }
            }
        }
    }
    Some(())
}

/// Where one process uses a location and the other uses another one, the two are swapped.
fn pair_locations(program: &Program, locations: &mut IndexVec<LocationId, LocationId>, a: EdgeId, b: EdgeId) -> bool {
    let (a, b) = (places(&program.edges()[a].op), places(&program.edges()[b].op));
    a.len() == b.len()
        && a.into_iter().zip(b).all(|pair| match pair {
            (Place::Fixed(x), Place::Fixed(y)) => {
                let is_free = |x: LocationId| locations[x] == x;
                if x != y && is_free(*x) && is_free(*y) {
                    locations[*x] = *y;
                    locations[*y] = *x;
                }
                locations[*x] == *y
            }
            (Place::Cell(..), Place::Cell(..)) => true,
            (Place::Fixed(_), Place::Cell(..)) | (Place::Cell(..), Place::Fixed(_)) => false,
        })
}

/// Whether an edge, with its locations swapped and its fences, is the other.
fn agrees(
    program: &Program,
    placement: &Placement,
    locations: &IndexVec<LocationId, LocationId>,
    a: EdgeId,
    b: EdgeId,
) -> bool {
    let has_same_fence = |side| placement.get(a, side) == placement.get(b, side);
    let (a, b) = (&program.edges()[a], &program.edges()[b]);
    let image = renamed(program, locations, &a.op);
    let is_same = image.as_ref() == Some(&b.op) && a.order == b.order;
    is_same && has_same_fence(Side::Before) && has_same_fence(Side::After)
}

fn renamed(program: &Program, locations: &IndexVec<LocationId, LocationId>, op: &Op) -> Option<Op> {
    heed(4);
    let place = |place: &Place| renamed_place(program, locations, place);
    Some(match op {
        Op::Load(register, x) => Op::Load(*register, place(x)?),
        Op::Store(x, value) => Op::Store(place(x)?, value.clone()),
        Op::Rmw { place: x, guard, write, into } => {
            Op::Rmw { place: place(x)?, guard: guard.clone(), write: write.clone(), into: *into }
        }
        Op::Locked(body) => Op::Locked(renamed_block(program, locations, body)?),
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Fence(_) => op.clone(),
    })
}

fn renamed_block(
    program: &Program,
    locations: &IndexVec<LocationId, LocationId>,
    body: &[Micro],
) -> Option<Vec<Micro>> {
    let place = |place: &Place| renamed_place(program, locations, place);
    let rename = |micro: &Micro| {
        Some(match micro {
            Micro::Load(register, x) => Micro::Load(*register, place(x)?),
            Micro::Store(x, value) => Micro::Store(place(x)?, value.clone()),
            Micro::Choose(branches) => {
                let branches = branches.iter().map(|branch| renamed_block(program, locations, branch));
                Micro::Choose(branches.collect::<Option<_>>()?)
            }
            Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) => micro.clone(),
        })
    };
    body.iter().map(rename).collect()
}

/// A computed index says nothing of where the cell goes, so such an array must stay as it is.
fn renamed_place(program: &Program, locations: &IndexVec<LocationId, LocationId>, place: &Place) -> Option<Place> {
    match place {
        Place::Fixed(x) => Some(Place::Fixed(locations[*x])),
        Place::Cell(array, _) => program.arrays()[*array].cells().all(|x| locations[x] == x).then(|| place.clone()),
    }
}

fn places(op: &Op) -> Vec<&Place> {
    fn in_block<'a>(body: &'a [Micro], out: &mut Vec<&'a Place>) {
        for micro in body {
            match micro {
                Micro::Load(_, place) | Micro::Store(place, _) => out.push(place),
                Micro::Choose(branches) => branches.iter().for_each(|branch| in_block(branch, out)),
                Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) => {}
            }
        }
    }
    match op {
        Op::Load(_, place) | Op::Store(place, _) | Op::Rmw { place, .. } => vec![place],
        Op::Locked(body) => {
            let mut out = Vec::new();
            in_block(body, &mut out);
            out
        }
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Fence(_) => Vec::new(),
    }
}

fn keeps_data(program: &Program, swap: &Swap) -> bool {
    let same_location = |(x, &image): (LocationId, &LocationId)| {
        let (a, b) = (&program.locations()[x], &program.locations()[image]);
        a.domain == b.domain && a.initial == b.initial
    };
    let registers = |process: ProcessId| program.processes()[process].registers.iter();
    registers(swap.first).len() == registers(swap.second).len()
        && registers(swap.first)
            .zip(registers(swap.second))
            .all(|(a, b)| a.domain == b.domain && a.initial == b.initial)
        && swap.locations.iter_enumerated().all(same_location)
}

/// A bad situation with the processes swapped must be bad too.
fn keeps_properties(program: &Program, swap: &Swap) -> bool {
    let all: BTreeSet<_> = program
        .properties()
        .iter()
        .flat_map(|property| property.situations.iter().map(|situation| (property.kind, ordered(situation))))
        .collect();
    let mut properties = program.properties().iter();
    properties.all(|property| {
        let images = property.situations.iter().map(|situation| (property.kind, image(swap, situation)));
        images.into_iter().all(|image| all.contains(&image))
    })
}

type Ordered = (Vec<(ProcessId, Vec<PointId>)>, Expr<StateVar>);

fn ordered(situation: &Situation) -> Ordered {
    let mut at = situation.at.clone();
    at.iter_mut().for_each(|(_, points)| points.sort_unstable());
    at.sort_unstable();
    (at, situation.condition.clone())
}

fn image(swap: &Swap, situation: &Situation) -> Ordered {
    let at = situation
        .at
        .iter()
        .map(|(process, points)| (swap.process(*process), points.iter().map(|&point| swap.points[point]).collect()));
    let condition = situation.condition.map(&mut |variable| match variable {
        StateVar::Register(process, register) => StateVar::Register(swap.process(*process), *register),
        StateVar::Memory(x) => StateVar::Memory(swap.locations[*x]),
    });
    ordered(&Situation { at: at.collect(), condition })
}
