//! Where threads may be stuck whose data is unbounded, from their text: somewhere there at least.
//!
//! A thread that goes on for ever without changing memory comes round. Whenever it takes a step back to a *head*, a
//! point by which every run comes before the step, it has gone round from there since it was there last; and if it
//! came by a point twice meanwhile, it has gone round another head in between. So at some time it is at a head and
//! goes a way back to it that comes by no point twice. What must hold before such a way is found backwards, from its
//! last step to the first, while memory stays as it is:
//!
//! ```text
//!    serving != my   ◀── t := serving ──   t != my   ◀── assume t != my ──   true        a way round
//! ```
//!
//! That it can go this way once more afterwards is not asked for, nor that a value is within its range: more is
//! forbidden than hangs, and a proof that none of it is reached is one that nobody hangs. So nothing here shows that
//! somebody does. What cannot be in memory while threads are where they are ([`left`](super::left)) is left out.

use std::collections::{BTreeMap, BTreeSet};

use crate::certificate::abstraction::may_hold;
use crate::certificate::verify::{Failure, Steps};
use crate::program::{
    BinaryOp, Expr, LocationId, Micro, Op, Place, PointId, ProcessId, Program, RegisterId, RmwVar, Situation, StateVar,
    Value,
};
use crate::source::Span;

use super::conditions::{Conditions, mentions, simplified, substituted};
use super::left::{Left, left};
use super::{MAX_SITUATIONS, MayWait, all_of, is_meant};

/// More ways round than this are not listed.
const MAX_WAYS: usize = 2_000;

/// Where a thread may be for ever, and when.
struct Stay {
    points: Vec<PointId>,
    conditions: Conditions,
    /// Whether it may be there for ever.
    is_fine: bool,
}

/// Every combination of places in which all threads may be for ever, one of which may not be there.
pub(super) fn situations(
    program: &Program,
    may_wait: &MayWait,
    steps: &mut Steps<'_>,
) -> Result<Vec<Situation>, Failure> {
    let mut stays = Vec::new();
    let mut lefts = Vec::new();
    for process in program.processes().indices() {
        let thread = Thread::new(program, process, may_wait);
        stays.push(thread.stays(steps)?);
        lefts.push(Left::new(program, process, &thread.steps));
    }
    if stays.iter().fold(1, |n: usize, it| n.saturating_mul(it.len())) > MAX_SITUATIONS {
        return Failure::refused("threads can be stuck in too many combinations of places");
    }
    let mut chosen: Vec<Vec<&Stay>> = vec![Vec::new()];
    for own in &stays {
        chosen = chosen.iter().flat_map(|it| own.iter().map(|stay| [&it[..], &[stay]].concat())).collect();
    }
    let mut out = Vec::new();
    for places in chosen.iter().filter(|it| it.iter().any(|stay| !stay.is_fine)) {
        steps.step(0)?;
        let threads: Vec<_> = lefts.iter().zip(places.iter().map(|stay| &stay.points[..])).collect();
        let Some(held) = left(program, &threads) else { continue };
        let condition = all_of(places.iter().flat_map(|stay| &stay.conditions).cloned().chain(held));
        if may_hold(program, &condition) {
            let at = program.processes().indices().zip(places.iter().map(|stay| stay.points.clone())).collect();
            out.push(Situation { at, condition });
        }
    }
    Ok(out)
}

/// What a thread may do.
struct Thread<'a> {
    program: &'a Program,
    process: ProcessId,
    points: Vec<PointId>,
    steps: Vec<Step>,
    may_wait: BTreeSet<PointId>,
}

/// An operation, and where it leads.
pub(super) struct Step {
    pub(super) from: PointId,
    pub(super) op: Op,
    pub(super) to: PointId,
}

impl<'a> Thread<'a> {
    fn new(program: &'a Program, process: ProcessId, may_wait: &MayWait) -> Self {
        let own = program.points().iter_enumerated().filter(|(_, it)| it.process == process);
        let points: Vec<PointId> = own.map(|(id, _)| id).collect();
        let edges = program.edges().iter().filter(|edge| edge.process == process);
        let mut steps: Vec<Step> = edges.map(|it| Step { from: it.from, op: it.op.clone(), to: it.to }).collect();
        steps.extend(points.iter().flat_map(|&point| again(program, process, point)));
        let labels: Vec<&str> =
            may_wait.iter().filter(|it| is_meant(program, process, &it.0)).map(|it| it.1.as_str()).collect();
        let is_labelled = |it: &PointId| program.points()[*it].labels.iter().any(|it| labels.contains(&it.as_str()));
        let may_wait = points.iter().copied().filter(is_labelled).collect();
        Self { program, process, points, steps, may_wait }
    }

    /// Where it may be for ever.
    fn stays(&self, counter: &mut Steps<'_>) -> Result<Vec<Stay>, Failure> {
        let is_end = |point: &PointId| self.program.points()[*point].is_end;
        let (ends, others): (Vec<PointId>, Vec<PointId>) = self.points.iter().copied().partition(is_end);
        let mut stays = Vec::new();
        if !ends.is_empty() {
            stays.push(Stay { points: ends, conditions: Conditions::new(), is_fine: true });
        }
        for &point in &others {
            let is_fine = self.may_wait.contains(&point);
            let here = self.blocked(point).into_iter().map(|it| Stay { points: vec![point], conditions: it, is_fine });
            stays.extend(here);
        }
        let back = self.steps_back(counter)?;
        let heads: BTreeSet<PointId> = back.iter().map(|step| step.to).collect();
        for head in heads {
            let back: Vec<&Step> = back.iter().copied().filter(|step| step.to == head).collect();
            for way in self.ways(head, &back, counter)? {
                counter.step(0)?;
                let is_fine = way.iter().any(|step| self.may_wait.contains(&step.from));
                let conditions = self.before(&way);
                stays.extend(conditions.into_iter().map(|it| Stay { points: vec![head], conditions: it, is_fine }));
            }
        }
        Ok(stays)
    }

    /// When nothing that it can do at a point is possible.
    fn blocked(&self, point: PointId) -> Vec<Conditions> {
        let mut ways = vec![Conditions::new()];
        for step in self.steps.iter().filter(|step| step.from == point) {
            ways = match &step.op {
                Op::Assume(it) => self.also(ways, &self.own(it).negated()),
                Op::Rmw { place, guard, .. } => self
                    .cells(place)
                    .into_iter()
                    .flat_map(|(x, is_it)| {
                        let fails = self.of_update(guard, x).negated();
                        self.also(self.also(ways.clone(), &is_it), &fails)
                    })
                    .collect(),
                // A block that waits inside may wait whatever is outside.
                Op::Locked(body) if body.iter().any(waits) => ways,
                Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Load(..) => return Vec::new(),
                Op::Store(..) | Op::Fence(_) | Op::Locked(_) => return Vec::new(),
            };
        }
        ways.into_iter().filter_map(simplified).collect()
    }

    /// The steps back to a head. Without them nobody goes round, which is checked.
    fn steps_back(&self, counter: &mut Steps<'_>) -> Result<Vec<&Step>, Failure> {
        let mut back = Vec::new();
        let mut onwards: BTreeMap<PointId, Vec<PointId>> = BTreeMap::new();
        let mut without: BTreeMap<PointId, BTreeSet<PointId>> = BTreeMap::new();
        for step in &self.steps {
            counter.step(0)?;
            let reached = without.entry(step.to).or_insert_with(|| self.reached_without(step.to));
            match reached.contains(&step.from) {
                true => onwards.entry(step.from).or_default().push(step.to),
                false => back.push(step),
            }
        }
        let mut left: BTreeSet<PointId> = self.points.iter().copied().collect();
        loop {
            let leads_on = |it: &PointId| onwards.get(it).is_some_and(|to| to.iter().any(|to| left.contains(to)));
            let ending: Vec<PointId> = left.iter().copied().filter(|it| !leads_on(it)).collect();
            if ending.is_empty() {
                break;
            }
            counter.step(0)?;
            left.retain(|it| !ending.contains(it));
        }
        match left.is_empty() {
            true => Ok(back),
            false => Failure::refused("a thread with unbounded data goes round a loop that is entered in its middle"),
        }
    }

    /// Where it comes without coming by a point.
    fn reached_without(&self, point: PointId) -> BTreeSet<PointId> {
        let entry = self.program.processes()[self.process].entry;
        let mut todo: Vec<PointId> = Some(entry).into_iter().filter(|it| *it != point).collect();
        let mut seen: BTreeSet<PointId> = todo.iter().copied().collect();
        while let Some(at) = todo.pop() {
            let next = self.steps.iter().filter(|step| step.from == at && step.to != point).map(|step| step.to);
            todo.extend(next.filter(|&to| seen.insert(to)));
        }
        seen
    }

    /// The ways from a head back to it that come by no point twice.
    fn ways<'s>(
        &'s self,
        head: PointId,
        back: &[&'s Step],
        counter: &mut Steps<'_>,
    ) -> Result<Vec<Vec<&'s Step>>, Failure> {
        let inside = self.leading_to(back, head);
        let mut found = Vec::new();
        let mut todo: Vec<(PointId, Vec<&Step>)> = vec![(head, Vec::new())];
        while let Some((at, way)) = todo.pop() {
            counter.step(0)?;
            for step in self.steps.iter().filter(|step| step.from == at) {
                let is_new = inside.contains(&step.to) && !way.iter().any(|before| before.from == step.to);
                let further = || way.iter().copied().chain([step]).collect();
                if step.to == head && back.iter().any(|it| std::ptr::eq(*it, step)) {
                    found.push(further());
                } else if step.to != head && is_new {
                    todo.push((step.to, further()));
                }
            }
            if found.len() > MAX_WAYS || todo.len() > MAX_WAYS {
                return Failure::refused("a thread with unbounded data has too many ways round");
            }
        }
        Ok(found)
    }

    /// From where one of these steps is reached without coming by the head.
    fn leading_to(&self, back: &[&Step], head: PointId) -> BTreeSet<PointId> {
        let mut seen: BTreeSet<PointId> = back.iter().map(|step| step.from).collect();
        let mut todo: Vec<PointId> = seen.iter().copied().filter(|it| *it != head).collect();
        while let Some(at) = todo.pop() {
            let from = self.steps.iter().filter(|step| step.to == at).map(|step| step.from);
            todo.extend(from.filter(|&from| seen.insert(from) && from != head));
        }
        seen
    }

    /// What must hold before a way for it to be possible without changing memory, in each case.
    fn before(&self, way: &[&Step]) -> Vec<Conditions> {
        let mut cases = vec![Conditions::new()];
        for step in way.iter().rev() {
            cases =
                cases.into_iter().flat_map(|after| self.before_step(&step.op, after)).filter_map(simplified).collect();
        }
        cases
    }

    fn before_step(&self, op: &Op, after: Conditions) -> Vec<Conditions> {
        match op {
            Op::Assume(it) | Op::Assert(it) => self.also(vec![after], &self.own(it)),
            Op::Assign(to, it) => vec![self.with(&after, *to, &self.own(it))],
            // Some value will do.
            Op::Havoc(to, ..) => {
                vec![after.into_iter().filter(|it| !mentions(it, &|var| *var == self.var(*to))).collect()]
            }
            Op::Load(to, place) => {
                let found =
                    |(x, is_it)| self.also(vec![self.with(&after, *to, &Expr::Var(StateVar::Memory(x)))], &is_it);
                self.cells(place).into_iter().flat_map(found).collect()
            }
            Op::Store(place, it) => {
                let held = |x| Expr::binary(BinaryOp::Eq, Expr::Var(StateVar::Memory(x)), self.own(it));
                let is_there = |(x, is_it)| self.also(self.also(vec![after.clone()], &held(x)), &is_it);
                self.cells(place).into_iter().flat_map(is_there).collect()
            }
            Op::Rmw { place, guard, write, into } => {
                let changes_nothing = |(x, is_it): (LocationId, Expr<StateVar>)| {
                    let old = Expr::Var(StateVar::Memory(x));
                    let after = into.map_or_else(|| after.clone(), |to| self.with(&after, to, &old));
                    let stays = write.as_ref().map(|it| Expr::binary(BinaryOp::Eq, self.of_update(it, x), old));
                    let all = [is_it, self.of_update(guard, x)].into_iter().chain(stays);
                    all.fold(vec![after], |cases, it| self.also(cases, &it))
                };
                self.cells(place).into_iter().flat_map(changes_nothing).collect()
            }
            Op::Fence(_) => vec![after],
            // Whatever it does to registers.
            Op::Locked(_) => {
                let is_own = |var: &StateVar| matches!(var, StateVar::Register(..));
                vec![after.into_iter().filter(|it| !mentions(it, &is_own)).collect()]
            }
        }
    }

    /// The locations that a place may be, and when it is which.
    fn cells(&self, place: &Place) -> Vec<(LocationId, Expr<StateVar>)> {
        match place {
            Place::Fixed(x) => vec![(*x, Expr::TRUE)],
            Place::Cell(array, index) => {
                let is_it = |number: Value| Expr::binary(BinaryOp::Eq, self.own(index), Expr::Const(number));
                self.program.arrays()[*array].cells().zip(0..).map(|(x, number)| (x, is_it(number))).collect()
            }
        }
    }

    /// These where something holds besides.
    fn also(&self, cases: Vec<Conditions>, condition: &Expr<StateVar>) -> Vec<Conditions> {
        if let Expr::Binary(BinaryOp::And, left, right) = condition {
            return self.also(self.also(cases, left), right);
        }
        cases.into_iter().map(|it| it.into_iter().chain([condition.clone()]).collect()).collect()
    }

    /// What must hold before a register gets a value for these to hold afterwards.
    fn with(&self, after: &Conditions, register: RegisterId, value: &Expr<StateVar>) -> Conditions {
        let own = self.var(register);
        after.iter().map(|it| substituted(it, &|var| (*var == own).then(|| value.clone()))).collect()
    }

    fn var(&self, register: RegisterId) -> StateVar {
        StateVar::Register(self.process, register)
    }

    fn own(&self, it: &Expr<RegisterId>) -> Expr<StateVar> {
        it.map(&mut |register| self.var(*register))
    }

    fn of_update(&self, it: &Expr<RmwVar>, x: LocationId) -> Expr<StateVar> {
        it.map(&mut |var| match var {
            RmwVar::Old => StateVar::Memory(x),
            RmwVar::Register(register) => self.var(*register),
        })
    }
}

/// What was read for an `assume` is read again where it does not hold: from there back to where the wait begins.
fn again(program: &Program, process: ProcessId, point: PointId) -> Vec<Step> {
    let wait_of = |point: PointId| {
        let span = program.edges()[*program.points()[point].edges.first()?].span;
        program.waits().iter().copied().find(|it: &Span| it.start <= span.start && span.end <= it.end)
    };
    let Some(wait) = wait_of(point) else { return Vec::new() };
    let edges = program.points()[point].edges.iter().map(|&edge| &program.edges()[edge].op);
    let fails = edges.map(|op| match op {
        Op::Assume(it) => Some(it.map(&mut |register| *register).negated()),
        Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Load(..) => None,
        Op::Store(..) | Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => None,
    });
    let Some(fails) = fails.collect::<Option<Vec<_>>>() else { return Vec::new() };
    let Some(fails) = fails.into_iter().reduce(|a, b| Expr::binary(BinaryOp::And, a, b)) else { return Vec::new() };
    let entry = program.processes()[process].entry;
    let (mut seen, mut todo, mut out) = (BTreeSet::from([point]), vec![point], Vec::new());
    while let Some(at) = todo.pop() {
        let into = program.edges().iter().filter(|edge| edge.to == at).map(|edge| edge.from);
        let (within, outside): (Vec<PointId>, Vec<PointId>) = into.partition(|&from| wait_of(from) == Some(wait));
        if at != point && (at == entry || !outside.is_empty() || within.is_empty()) {
            out.push(Step { from: point, op: Op::Assume(fails.clone()), to: at });
        }
        todo.extend(within.into_iter().filter(|&from| seen.insert(from)));
    }
    out
}

/// Whether a part of a block may be impossible.
fn waits(part: &Micro) -> bool {
    match part {
        Micro::Assume(_) => true,
        Micro::Choose(branches) => branches.iter().flatten().any(waits),
        Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) | Micro::Load(..) | Micro::Store(..) => false,
    }
}
