//! Where threads are stuck whose local states cannot be listed, since data is unbounded: found from their text.
//!
//! Memory is as it is and stays so. A thread is stuck where nothing that it can do is possible, or where it can go
//! round for ever without changing memory. One way round, from a point back to it, is possible under a condition on
//! memory and on the registers there: what is loaded is what memory holds, and what is stored must be that already.
//!
//! ```text
//!    let my = …;  while (serving != my) { }        h ── t := serving ── assume t != my ──▶ h      serving != my
//! ```
//!
//! A way round that comes by no point twice has a *head*: the point of it by which every run comes before the others.
//! It is *clean* if it reads no register that it writes before it writes it. If it is possible once, from its head,
//! then it is so again and again, since what it reads stays the same. And a thread that goes on for ever goes round
//! such ways from their heads: of all the times it comes back to a head, take one between which and the time before
//! there is no other. So the conditions of clean ways are all that is needed if those that are not clean can be seen
//! never to be possible: they store what is not there. Otherwise (a thread counts while it waits, say; goes round
//! without reading; or can be entered elsewhere than at a head) this is not known, and refused.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use crate::engine::Unsupported;
use crate::engine::automaton::Unmade;
use crate::program::{BinaryOp, Edge, Expr, Micro, Op, PointId, ProcessId, Program, Situation, StateVar};
use crate::source::Span;
use crate::util::components;
use crate::watch::{Monitor, Progress};

use super::places::few_enough;
use super::way::{Condition, Way};

/// More ways round than this are not listed.
const MAX_WAYS: usize = 2_000;

/// Where a thread may be for ever, and when.
#[derive(Clone, Debug)]
struct Stay {
    points: Vec<PointId>,
    condition: Condition,
    /// Whether it may be there for ever.
    is_fine: bool,
}

/// Every combination of places in which all threads are for ever, some of which should not be.
pub(super) fn situations(
    program: &Program,
    may_wait: &dyn Fn(ProcessId, PointId) -> bool,
    monitor: &dyn Monitor,
) -> Result<Vec<Situation>, Unmade> {
    let mut chosen: Vec<Vec<Stay>> = vec![Vec::new()];
    for process in program.processes().indices() {
        let places = Thread::new(program, process).stays(&|point| may_wait(process, point), monitor)?;
        few_enough(chosen.len().saturating_mul(places.len()))?;
        let with = |before: &Vec<Stay>, place| [&before[..], slice::from_ref(place)].concat();
        chosen = chosen.iter().flat_map(|before| places.iter().map(|place| with(before, place))).collect();
    }
    chosen.retain(|places| places.iter().any(|place| !place.is_fine));
    Ok(chosen.into_iter().map(|places| situation(program, places)).collect())
}

fn situation(program: &Program, places: Vec<Stay>) -> Situation {
    let (points, conditions): (Vec<_>, Vec<_>) = places.into_iter().map(|it| (it.points, it.condition)).unzip();
    let at = program.processes().indices().zip(points).collect();
    Situation { at, condition: all(conditions.into_iter().flatten()) }
}

fn all(conditions: impl IntoIterator<Item = Expr<StateVar>>) -> Expr<StateVar> {
    conditions.into_iter().reduce(|a, b| Expr::binary(BinaryOp::And, a, b)).unwrap_or(Expr::TRUE)
}

/// What a thread may do.
struct Thread<'a> {
    program: &'a Program,
    process: ProcessId,
    points: Vec<PointId>,
    steps: Vec<Step>,
    /// By which points every run comes before each point, itself included.
    before: BTreeMap<PointId, BTreeSet<PointId>>,
}

/// An operation, and where it leads.
#[derive(Clone, Debug)]
struct Step {
    from: PointId,
    to: PointId,
    op: Op,
    span: Span,
}

impl<'a> Thread<'a> {
    fn new(program: &'a Program, process: ProcessId) -> Self {
        let of_thread = program.points().iter_enumerated().filter(|(_, it)| it.process == process);
        let points: Vec<PointId> = of_thread.map(|(id, _)| id).collect();
        let edges = program.edges().iter().filter(|edge| edge.process == process);
        let step = |edge: &Edge| Step { from: edge.from, to: edge.to, op: edge.op.clone(), span: edge.span };
        let steps = edges.map(step).collect();
        let mut thread = Self { program, process, points, steps, before: BTreeMap::new() };
        let again: Vec<Step> = thread.points.iter().flat_map(|&point| thread.again(point)).collect();
        thread.steps.extend(again);
        thread.before = thread.points.iter().map(|&point| (point, thread.come_by(point))).collect();
        thread
    }

    /// The points by which every run comes that gets to a point: those without which it does not get there.
    fn come_by(&self, point: PointId) -> BTreeSet<PointId> {
        let entry = self.program.processes()[self.process].entry;
        let is_needed = |without: &PointId| {
            let (mut seen, mut todo) = (BTreeSet::from([entry]), vec![entry]);
            while let Some(at) = todo.pop() {
                let next = self.steps.iter().filter(|step| step.from == at && at != *without).map(|step| step.to);
                todo.extend(next.filter(|&to| seen.insert(to)));
            }
            *without == point || !seen.contains(&point)
        };
        self.points.iter().copied().filter(is_needed).collect()
    }

    /// Where it may be for ever.
    fn stays(&self, may_wait: &dyn Fn(PointId) -> bool, monitor: &dyn Monitor) -> Result<Vec<Stay>, Unmade> {
        let is_end = |point: &PointId| self.program.points()[*point].is_end;
        let ends: Vec<PointId> = self.points.iter().copied().filter(is_end).collect();
        let ended = Stay { points: ends, condition: Condition::new(), is_fine: true };
        let mut stays: Vec<Stay> = Some(ended).filter(|it| !it.points.is_empty()).into_iter().collect();
        for &point in self.points.iter().filter(|it| !is_end(it)) {
            stays.extend(self.blocked(point, may_wait(point))?);
        }
        for part in self.parts() {
            self.has_heads(&part)?;
            for &head in &self.points {
                let mut rounds = Rounds { thread: self, part: &part, head, monitor, found: Vec::new() };
                rounds.from(&Way::new(self.program, self.process, head), head)?;
                stays.extend(rounds.found.into_iter().map(|way| {
                    let is_fine = way.points.iter().any(|&point| may_wait(point));
                    Stay { points: vec![head], condition: way.condition, is_fine }
                }));
            }
        }
        Ok(stays)
    }

    /// When it does nothing any more at a point.
    fn blocked(&self, point: PointId, is_fine: bool) -> Result<Vec<Stay>, Unsupported> {
        let steps: Vec<&Step> = self.steps.iter().filter(|step| step.from == point).collect();
        // A wait that goes back to its first load is a way round.
        if steps.len() > self.program.points()[point].edges.len() {
            return Ok(Vec::new());
        }
        if let Some(step) = steps.iter().find(|step| waits_inside(&step.op)) {
            let line = self.program.source().line_name(step.span);
            let reason = format!("{line} is an atomic block that waits, in a program with unbounded data");
            return Err(Unsupported { reason, help: "give variables ranges".to_owned() });
        }
        let start = vec![Way::new(self.program, self.process, point)];
        let barred = steps.into_iter().try_fold(start, |ways, step| {
            let barred: Option<Vec<_>> = ways.into_iter().map(|way| way.barred(&step.op)).collect();
            barred.map(|it| it.into_iter().flatten().collect())
        });
        let stay = |way: Way<'_>| Stay { points: vec![point], condition: way.condition, is_fine };
        Ok(barred.unwrap_or_default().into_iter().filter(Way::is_possible).map(stay).collect())
    }

    /// From where an `assume` does not hold back to its first load.
    fn again(&self, point: PointId) -> Vec<Step> {
        let edges: Vec<&Edge> =
            self.program.points()[point].edges.iter().map(|&edge| &self.program.edges()[edge]).collect();
        let Some(first) = edges.first() else { return Vec::new() };
        let within = |wait: &Span, span: Span| wait.start <= span.start && span.end <= wait.end;
        let Some(wait) = self.program.waits().iter().find(|wait| within(wait, first.span)) else { return Vec::new() };
        let fails = edges.iter().map(|edge| match &edge.op {
            Op::Assume(condition) => Some(condition.clone().negated()),
            Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Load(..) => None,
            Op::Store(..) | Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => None,
        });
        let Some(fails) = fails.collect::<Option<Vec<_>>>() else { return Vec::new() };
        let fails = fails.into_iter().reduce(|a, b| Expr::binary(BinaryOp::And, a, b)).unwrap_or(Expr::TRUE);
        let (mut starts, mut seen, mut todo) = (BTreeSet::new(), BTreeSet::from([point]), vec![point]);
        while let Some(at) = todo.pop() {
            let incoming = self.program.edges().iter().filter(|edge| edge.to == at);
            let (inside, outside): (Vec<_>, Vec<_>) = incoming.partition(|edge| within(wait, edge.span));
            if !outside.is_empty() || inside.is_empty() || self.program.processes()[self.process].entry == at {
                starts.insert(at);
            }
            todo.extend(inside.into_iter().map(|edge| edge.from).filter(|&from| seen.insert(from)));
        }
        starts.remove(&point);
        let step = |to| Step { from: point, to, op: Op::Assume(fails.clone()), span: first.span };
        starts.into_iter().map(step).collect()
    }

    /// The steps of each part in which the thread can go round, reading.
    fn parts(&self) -> Vec<Vec<&Step>> {
        let all: Vec<&Step> = self.steps.iter().collect();
        let parts = self.connected(&all);
        parts.into_iter().filter(|part| part.iter().any(|step| reads_memory(&step.op))).collect()
    }

    /// The strongly connected parts of some steps.
    fn connected<'s>(&self, steps: &[&'s Step]) -> Vec<Vec<&'s Step>> {
        let number = |point: PointId| self.points.binary_search(&point).expect("it is a point of the thread");
        let mut next = vec![Vec::new(); self.points.len()];
        steps.iter().for_each(|step| next[number(step.from)].push(number(step.to)));
        let heads = components(&next);
        let mut parts: BTreeMap<usize, Vec<&Step>> = BTreeMap::new();
        for step in steps {
            if heads[number(step.from)] == heads[number(step.to)] {
                parts.entry(heads[number(step.from)]).or_default().push(step);
            }
        }
        parts.into_values().collect()
    }

    /// Whether every way round has a head: without the steps back to one nobody goes round.
    fn has_heads(&self, part: &[&Step]) -> Result<(), Unsupported> {
        let onwards: Vec<&Step> =
            part.iter().copied().filter(|step| !self.before[&step.from].contains(&step.to)).collect();
        match self.connected(&onwards).first().and_then(|part| part.first()) {
            None => Ok(()),
            Some(step) => Err(self.refused(step, "can be entered in its middle")),
        }
    }

    fn refused(&self, step: &Step, why: &str) -> Unsupported {
        let line = self.program.source().line_name(step.span);
        let reason = format!("{line} is where a thread with unbounded data goes round, and {why}");
        Unsupported { reason, help: "give variables ranges".to_owned() }
    }
}

fn reads_memory(op: &Op) -> bool {
    match op {
        Op::Load(..) | Op::Rmw { .. } | Op::Locked(_) => true,
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Store(..) | Op::Fence(_) => false,
    }
}

/// Whether a block may be impossible.
fn waits_inside(op: &Op) -> bool {
    match op {
        Op::Locked(body) => body.iter().any(waits),
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Load(..) => false,
        Op::Store(..) | Op::Rmw { .. } | Op::Fence(_) => false,
    }
}

fn waits(micro: &Micro) -> bool {
    match micro {
        Micro::Assume(_) => true,
        Micro::Choose(branches) => branches.iter().flatten().any(waits),
        Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) | Micro::Load(..) | Micro::Store(..) => false,
    }
}

/// Finds the ways round from a head.
struct Rounds<'a, 'm> {
    thread: &'a Thread<'a>,
    part: &'a [&'a Step],
    head: PointId,
    monitor: &'m dyn Monitor,
    found: Vec<Way<'a>>,
}

impl<'a> Rounds<'a, '_> {
    /// Goes on from where a way has got to.
    fn from(&mut self, way: &Way<'a>, at: PointId) -> Result<(), Unmade> {
        let progress = Progress { explored: self.found.len() as u64, ..Progress::default() };
        if let Some(stop) = self.monitor.poll(&progress) {
            return Err(Unmade::Stopped(stop));
        }
        let thread = self.thread;
        for step in self.part.iter().filter(|step| step.from == at) {
            let is_behind = thread.before[&step.to].contains(&self.head);
            if !is_behind || (step.to != self.head && way.points.contains(&step.to)) {
                continue;
            }
            let refused = |why: &str| thread.refused(step, why);
            let further =
                way.clone().further(&step.op).ok_or_else(|| refused("has a choice or an atomic block there"))?;
            for mut next in further.into_iter().filter(Way::is_possible) {
                if step.to != self.head {
                    next.points.push(step.to);
                    self.from(&next, step.to)?;
                } else if !next.is_clean() {
                    return Err(refused("counts").into());
                } else if !next.reads {
                    return Err(refused("does not always read").into());
                } else {
                    self.found.push(next);
                }
            }
            if self.found.len() > MAX_WAYS {
                return Err(refused("has too many ways").into());
            }
        }
        Ok(())
    }
}
