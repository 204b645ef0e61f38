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

/// What came of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// The machine can take them.
    Possible,
    /// It cannot.
    Impossible,
    /// There are too many ways to tell.
    TooMany,
}

/// More configurations than this are not looked at.
const MAX_VISITS: usize = 20_000;

/// Takes the program's steps of an alarm by this machine, until a way is accepted.
pub fn along(
    problem: &Problem<'_>,
    machine: &Machine<'_>,
    alarm: &Alarm,
    accept: &mut dyn FnMut(&Alarm) -> bool,
) -> Along {
    let is_step = |rule: &Rule| matches!(rule.kind, RuleKind::Step(_));
    let steps: Vec<Rule> = alarm.rules.iter().copied().filter(is_step).collect();
    let first = Visit { n_taken: 0, at: machine.initial(), zone: problem.initial.clone(), from: None };
    let mut visits = vec![first];
    let mut seen = HashSet::new();
    let mut todo = vec![0];
    while let Some(id) = todo.pop() {
        let Visit { n_taken, at, zone, .. } = &visits[id];
        let n_taken = *n_taken;
        if n_taken == steps.len()
            && let Some(end) = problem.bad.reached(at, zone, &[])
            && accept(&Alarm { rules: way(&visits, id), end })
        {
            return Along::Possible;
        }
        if visits.len() > MAX_VISITS {
            return Along::TooMany;
        }
        let mut next = Vec::new();
        for transition in machine.transitions(at) {
            let is_step = match transition.rule.kind {
                RuleKind::Step(_) => true,
                RuleKind::Flush(..) => false,
            };
            if is_step && steps.get(n_taken) != Some(&transition.rule) {
                continue;
            }
            let Some(zone) = transition.after(zone) else { continue };
            let n_taken = n_taken + usize::from(is_step);
            if seen.insert((n_taken, transition.to.clone(), zone.clone())) {
                let visit = Visit { n_taken, at: transition.to, zone, from: Some((id, transition.rule)) };
                next.push((is_step, visit));
            }
        }
        // The last is looked at first: what leaves comes before the next step.
        next.sort_by_key(|(is_step, _)| !is_step);
        for (_, visit) in next {
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

fn way(visits: &[Visit], mut at: usize) -> Vec<Rule> {
    let mut rules = Vec::new();
    while let Some((from, rule)) = visits[at].from {
        rules.push(rule);
        at = from;
    }
    rules.reverse();
    rules
}
