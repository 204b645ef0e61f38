//! What is said of a race: the two accesses, and what would have ordered them.

use crate::engine::data_race::at_once::plain;
use crate::engine::data_race::clocks::{Clocks, Past, ways};
use crate::engine::data_race::knowledge::{Access, fence_order};
use crate::program::{EdgeId, LocationId, Order, Place, PointId, ProcessId, Program, PropertyKind, Value};
use crate::system::{Action, Block, Effect, Event, Local, Run, Violation};
use crate::util::IndexVec;

/// An access to plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accessed {
    /// Who.
    pub process: ProcessId,
    /// With which edge.
    pub edge: EdgeId,
    /// Whether it writes.
    pub writes: bool,
}

/// A value that went from one thread to the other between the accesses, and would have ordered them if it had been
/// written and read with other orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// What was written and read.
    pub location: LocationId,
    /// The edge that wrote it.
    pub write: EdgeId,
    /// The edge that read it.
    pub read: EdgeId,
    /// Whether it was written without a release.
    pub is_unreleased: bool,
    /// Whether it was read without an acquire.
    pub is_unacquired: bool,
}

/// A race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The plain location.
    pub location: LocationId,
    /// The access that comes first; of two at once, one of them.
    pub first: Accessed,
    /// The access that is about to happen.
    pub second: Accessed,
    /// Whether both are about to happen.
    pub is_at_once: bool,
    /// What would have ordered them.
    pub missing: Option<Missing>,
}

/// The race that a run ends in, if it ends in one.
pub fn told(program: &Program, run: &Run) -> Option<Told> {
    let Violation::Property(id) = run.trace.violation else { return None };
    let property = &program.properties()[id];
    let situation = property.situations.get(run.situation?)?;
    match (property.kind, &situation.at[..]) {
        // Others may be about to access something as well.
        (PropertyKind::Race, [_]) => {
            program.processes().indices().find_map(|p| unordered(program, run, p, point_of(program, run, p)))
        }
        (PropertyKind::Race, [(p, of), (q, other)]) => at_once(program, run, (*p, *of.first()?), (*q, *other.first()?)),
        _ => None,
    }
}

type Registers = IndexVec<ProcessId, Vec<Value>>;

fn registers(run: &Run) -> &Registers {
    run.events.last().map_or(&run.trace.start.registers, |it| &it.registers)
}

/// Where a thread is at the end of a run.
fn point_of(program: &Program, run: &Run, p: ProcessId) -> PointId {
    let own = run.events.iter().rev().filter(|it| it.step.process == p);
    let last = own.filter_map(edge_of).next();
    last.map_or(program.processes()[p].entry, |edge| program.edges()[edge].to)
}

/// A thread is at a point from which one of its accesses races with an earlier one.
fn unordered(program: &Program, run: &Run, p: ProcessId, point: PointId) -> Option<Told> {
    let clocks = Clocks::after(program, run);
    let contents = run.events.last().map_or(&run.trace.start.memory, |it| &it.memory).as_slice().to_vec();
    let start = Block { registers: registers(run)[p].clone(), contents };
    for &edge in &program.points()[point].edges {
        for acts in ways(program, edge, start.clone()) {
            if let Some((location, access, past)) = clocks.clone().step(edge, &acts) {
                let first = Accessed { process: past.process, edge: past.edge, writes: past.access == Access::Write };
                let second = Accessed { process: p, edge, writes: access == Access::Write };
                let missing = missing(program, run, &past, p);
                return Some(Told { location, first, second, is_at_once: false, missing });
            }
        }
    }
    None
}

/// Two threads are at points from which they can access one location at once.
fn at_once(program: &Program, run: &Run, one: (ProcessId, PointId), other: (ProcessId, PointId)) -> Option<Told> {
    let accesses = |(p, point): (ProcessId, PointId)| -> Vec<(LocationId, Accessed)> {
        let of = |&edge: &EdgeId| {
            let (_, place, writes) = plain(program, &program.edges()[edge])?;
            let x = resolved(program, edge, place, &registers(run)[p])?;
            Some((x, Accessed { process: p, edge, writes }))
        };
        program.points()[point].edges.iter().filter_map(of).collect()
    };
    for (location, first) in accesses(one) {
        for (also, second) in accesses(other) {
            if location == also && (first.writes || second.writes) {
                return Some(Told { location, first, second, is_at_once: true, missing: None });
            }
        }
    }
    None
}

fn resolved(program: &Program, edge: EdgeId, place: &Place, registers: &[Value]) -> Option<LocationId> {
    Local::new(program, edge).resolve(place, registers).ok()
}

/// The first value that a thread read after another had written it behind an access.
fn missing(program: &Program, run: &Run, past: &Past, reader: ProcessId) -> Option<Missing> {
    let behind = || run.events.iter().enumerate().skip(past.event + 1);
    for (i, read) in behind().filter(|(_, it)| it.step.process == reader) {
        let (Effect::Load(x, ..) | Effect::Rmw(x, ..)) = read.effect else { continue };
        let written = behind().take_while(|it| it.0 < i).filter(|(_, it)| writes(it, x)).last();
        let Some((at, write)) = written.filter(|it| it.1.step.process == past.process) else { continue };
        let (Some(write), Some(read)) = (edge_of(write), edge_of(read)) else { continue };
        if program.plain().contains(&x) {
            continue;
        }
        let fences = |process: ProcessId, from: usize, to: usize, is: fn(Order) -> bool| {
            run.events[from..to].iter().filter(|it| it.step.process == process).filter_map(edge_of).any(|edge| {
                let edge = &program.edges()[edge];
                fence_order(&edge.op, edge.order).is_some_and(is)
            })
        };
        let is_released =
            program.edges()[write].order.releases() || fences(past.process, past.event + 1, at, Order::releases);
        let is_acquired =
            program.edges()[read].order.acquires() || fences(reader, i + 1, run.events.len(), Order::acquires);
        if !is_released || !is_acquired {
            let (is_unreleased, is_unacquired) = (!is_released, !is_acquired);
            return Some(Missing { location: x, write, read, is_unreleased, is_unacquired });
        }
    }
    None
}

fn writes(event: &Event, x: LocationId) -> bool {
    match event.effect {
        Effect::Store(to, ..) | Effect::Rmw(to, _, Some(_)) => to == x,
        Effect::Rmw(_, _, None) | Effect::Load(..) | Effect::Local | Effect::Fence(_) | Effect::Locked => false,
        Effect::Arrived(..) | Effect::MarkerLeft | Effect::Faulted => false,
    }
}

fn edge_of(event: &Event) -> Option<EdgeId> {
    match event.step.action {
        Action::Edge { edge, .. } => Some(edge),
        Action::Fence(_) | Action::Internal(_) => None,
    }
}
