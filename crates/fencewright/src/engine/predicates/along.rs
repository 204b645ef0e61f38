//! The steps of an alarm, taken again by a machine that keeps more of the buffers.
//!
//! What leaves the buffers is not taken from the alarm: between two steps of the program, every store may leave that
//! the machine lets leave, soonest first. So the search is complete for the steps; it is small, since its
//! configurations differ in how far the steps are taken and in what waits. Data is exact here, if only differences are
//! taken; otherwise whoever asks has to look whether a way is possible.

use std::collections::HashSet;

use crate::engine::predicates::machine::{Machine, Rule, RuleKind, Skeleton};
use crate::engine::predicates::search::{Alarm, Problem};
use crate::numeric::Zone;
use crate::watch::{Monitor, Progress};

/// What came of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Along {
    /// The machine can take them.
    Possible,
    /// It cannot.
    Impossible,
    /// There are too many ways to tell, or the monitor says stop.
    Unfinished,
}

/// More configurations than this are not looked at.
const MAX_VISITS: usize = 20_000;

/// The monitor is asked after so many.
const POLL_EVERY: usize = 64;

/// Takes the program's steps of an alarm by this machine, until a way is accepted.
pub(super) fn along(
    problem: &Problem<'_>,
    (machine, alarm): (&Machine<'_>, &Alarm),
    monitor: &dyn Monitor,
    accept: &mut dyn FnMut(&Alarm) -> bool,
) -> Along {
    let is_step = |rule: &Rule| matches!(rule.kind, RuleKind::Step(_));
    let steps: Vec<Rule> = alarm.rules.iter().copied().filter(is_step).collect();
    let first = Visit { n_taken: 0, at: machine.initial(), zone: problem.initial.clone(), from: None };
    let mut visits = vec![first];
    let mut seen = HashSet::new();
    let mut todo = vec![0];
    let mut n_looked_at = 0_usize;
    while let Some(id) = todo.pop() {
        let Visit { n_taken, at, zone, .. } = &visits[id];
        let n_taken = *n_taken;
        if n_taken == steps.len()
            && let Some(end) = problem.bad.reached(at, zone, &[])
            && accept(&Alarm { rules: way(&visits, id), end })
        {
            return Along::Possible;
        }
        n_looked_at += 1;
        let is_polled = n_looked_at.is_multiple_of(POLL_EVERY);
        if visits.len() > MAX_VISITS || (is_polled && monitor.poll(&Progress::default()).is_some()) {
            return Along::Unfinished;
        }
        let mut next = next(machine, (id, &visits[id]), steps.get(n_taken));
        next.retain(|it| seen.insert((it.n_taken, it.at.clone(), it.zone.clone())));
        // The last is looked at first: what leaves comes before the next step.
        next.sort_by_key(|it| std::cmp::Reverse(it.n_taken));
        for visit in next {
            todo.push(visits.len());
            visits.push(visit);
        }
    }
    Along::Impossible
}

/// So many steps are taken, and this is where they lead.
struct Visit {
    n_taken: usize,
    at: Skeleton,
    zone: Zone,
    from: Option<(usize, Rule)>,
}

/// What comes after a visit: something leaves a buffer, or the step that is wanted next is taken.
fn next(machine: &Machine<'_>, (id, of): (usize, &Visit), wanted: Option<&Rule>) -> Vec<Visit> {
    let mut out = Vec::new();
    for transition in machine.transitions(&of.at) {
        let n_more = match transition.rule.kind {
            RuleKind::Step(_) if wanted == Some(&transition.rule) => 1,
            RuleKind::Step(_) => continue,
            RuleKind::Leaves(..) => 0,
        };
        if let Some(zone) = transition.after(&of.zone) {
            let from = Some((id, transition.rule));
            out.push(Visit { n_taken: of.n_taken + n_more, at: transition.to, zone, from });
        }
    }
    out
}

fn way(visits: &[Visit], mut at: usize) -> Vec<Rule> {
    let mut rules = Vec::new();
    while let Some((from, rule)) = visits[at].from {
        rules.push(rule);
        at = from;
    }
    rules.reverse();
    rules
}
