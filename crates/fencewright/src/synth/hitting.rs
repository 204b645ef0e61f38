//! The cheapest set that hits every clause.
//!
//! Branch and bound over fence sets with ordered kinds: a full fence hits what a store-store fence hits. Of an unhit
//! clause each element is tried in turn; once tried, it is forbidden to those after it, so that no set is met twice.
//! The bound is the cheapest element of each of some unhit clauses that have no candidate in common.

use std::collections::{BTreeMap, BTreeSet};

use super::CandidateId;
use super::clause::Elements;
use crate::engine::StopReason;
use crate::program::FenceKind;

/// A fence at each of these candidates.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Choice(pub BTreeMap<CandidateId, FenceKind>);

impl Choice {
    /// Whether a fence of the set would have stopped the run of the clause.
    pub fn hits(&self, clause: &Elements) -> bool {
        clause.iter().any(|(candidate, kind)| self.0.get(candidate).is_some_and(|mine| mine >= kind))
    }

    /// Whether every fence of the other is here, at least as strong.
    pub fn includes(&self, other: &Self) -> bool {
        other.0.iter().all(|(candidate, kind)| self.0.get(candidate).is_some_and(|mine| mine >= kind))
    }
}

/// What is asked for.
pub(super) struct Problem<'a> {
    /// Each must be hit.
    pub clauses: &'a [&'a Elements],
    /// None of these may be included.
    pub blocked: &'a [Choice],
    /// What a fence costs: at least 1, and a full one no less than a store-store one.
    pub cost: &'a dyn Fn(CandidateId, FenceKind) -> u64,
    /// From weak to strong.
    pub kinds: &'a [FenceKind],
    /// Asked now and then; `Some` ends the search.
    pub poll: &'a dyn Fn() -> Option<StopReason>,
}

/// The search asks whether to stop after so many sets.
const POLL_EVERY: u64 = 256;

/// The cheapest set that hits all clauses and includes no blocked set, with its cost; it is minimal.
///
/// # Errors
/// The search was told to stop.
pub(super) fn cheapest(problem: &Problem<'_>) -> Result<Option<(u64, Choice)>, StopReason> {
    let mut search = Search { problem, best: None, set: Choice::default(), forbidden: BTreeMap::new(), n_sets: 0 };
    search.extend(0)?;
    Ok(search.best.map(|(_, set)| minimal(problem, set)))
}

struct Search<'a> {
    problem: &'a Problem<'a>,
    best: Option<(u64, Choice)>,
    set: Choice,
    /// From this kind on, a fence at the candidate may not be added.
    forbidden: Elements,
    /// How many sets were looked at.
    n_sets: u64,
}

impl Search<'_> {
    fn extend(&mut self, cost: u64) -> Result<(), StopReason> {
        self.n_sets += 1;
        if self.n_sets.is_multiple_of(POLL_EVERY)
            && let Some(reason) = (self.problem.poll)()
        {
            return Err(reason);
        }
        let open: Vec<_> = self.problem.clauses.iter().filter(|it| !self.set.hits(it)).collect();
        let bound = cost.saturating_add(self.bound(&open));
        let is_hopeless = self.best.as_ref().is_some_and(|best| bound >= best.0);
        if is_hopeless || self.problem.blocked.iter().any(|it| self.set.includes(it)) {
            return Ok(());
        }
        let Some(clause) = open.into_iter().min_by_key(|it| it.len()) else {
            self.best = Some((cost, self.set.clone()));
            return Ok(());
        };
        let mut tried = Vec::new();
        for (&candidate, &kind) in *clause {
            let before = self.forbidden.get(&candidate).copied();
            if before.is_some_and(|from| from <= kind) {
                continue;
            }
            let extra = self.extra(candidate, kind);
            let old = self.set.0.insert(candidate, kind);
            self.extend(cost.saturating_add(extra))?;
            restore(&mut self.set.0, candidate, old);
            self.forbidden.insert(candidate, kind);
            tried.push((candidate, before));
        }
        for (candidate, before) in tried {
            restore(&mut self.forbidden, candidate, before);
        }
        Ok(())
    }

    /// What making the fence at a candidate this strong costs more.
    fn extra(&self, candidate: CandidateId, kind: FenceKind) -> u64 {
        let paid = self.set.0.get(&candidate).map_or(0, |&old| (self.problem.cost)(candidate, old));
        (self.problem.cost)(candidate, kind).saturating_sub(paid)
    }

    fn bound(&self, open: &[&&Elements]) -> u64 {
        let mut used: BTreeSet<CandidateId> = BTreeSet::new();
        let mut bound: u64 = 0;
        for clause in open {
            if clause.keys().all(|it| !used.contains(it)) {
                used.extend(clause.keys());
                let extras = clause.iter().map(|(&candidate, &kind)| self.extra(candidate, kind));
                bound = bound.saturating_add(extras.min().unwrap_or(u64::MAX));
            }
        }
        bound
    }
}

fn restore(map: &mut Elements, candidate: CandidateId, old: Option<FenceKind>) {
    match old {
        Some(kind) => map.insert(candidate, kind),
        None => map.remove(&candidate),
    };
}

/// The set without what no clause needs. A cheapest set has such a fence only where a weaker one costs the same.
fn minimal(problem: &Problem<'_>, mut set: Choice) -> (u64, Choice) {
    for candidate in set.0.keys().copied().collect::<Vec<_>>() {
        let kind = set.0[&candidate];
        let weaker = problem.kinds.iter().copied().filter(|&it| it < kind).map(Some);
        for weaker in std::iter::once(None).chain(weaker) {
            let mut smaller = set.clone();
            restore(&mut smaller.0, candidate, weaker);
            if problem.clauses.iter().all(|it| smaller.hits(it)) {
                set = smaller;
                break;
            }
        }
    }
    let cost = set.0.iter().map(|(&candidate, &kind)| (problem.cost)(candidate, kind));
    (cost.fold(0, u64::saturating_add), set)
}

#[cfg(test)]
mod tests {
    use super::{CandidateId, Choice, Elements, Problem, cheapest};
    use crate::engine::StopReason;
    use crate::program::FenceKind::{self, Full, StoreStore};
    use crate::util::Idx;

    type Clauses<'a> = &'a [&'a [(usize, FenceKind)]];

    fn map(elements: &[(usize, FenceKind)]) -> Elements {
        elements.iter().map(|&(candidate, kind)| (CandidateId::from_usize(candidate), kind)).collect()
    }

    /// All minimal sets in the order in which they are found.
    fn all(clauses: Clauses<'_>) -> Vec<Vec<(usize, FenceKind)>> {
        let clauses: Vec<_> = clauses.iter().map(|it| map(it)).collect();
        let clauses: Vec<_> = clauses.iter().collect();
        let cost = |_, kind| if kind == Full { 3 } else { 1 };
        let mut blocked: Vec<Choice> = Vec::new();
        let next = |blocked: &[Choice]| {
            let kinds = &[StoreStore, Full];
            cheapest(&Problem { clauses: &clauses, blocked, cost: &cost, kinds, poll: &|| None })
        };
        while let Some((_, set)) = next(&blocked).expect("nobody stops the search") {
            blocked.push(set);
        }
        blocked.iter().map(|set| set.0.iter().map(|(it, &kind)| (it.index(), kind)).collect()).collect()
    }

    fn check(clauses: Clauses<'_>, expected: Clauses<'_>) {
        assert_eq!(all(clauses), expected);
    }

    #[test]
    fn no_clause_needs_no_fence() {
        check(&[], &[&[]]);
    }

    #[test]
    fn an_empty_clause_has_no_answer() {
        check(&[&[]], &[]);
    }

    #[test]
    fn one_element_may_hit_two_clauses() {
        let clauses: Clauses<'_> = &[&[(2, Full), (3, Full)], &[(3, Full), (4, Full)]];
        check(clauses, &[&[(3, Full)], &[(2, Full), (4, Full)]]);
    }

    #[test]
    fn a_full_fence_hits_what_a_weak_one_hits() {
        check(&[&[(0, StoreStore)], &[(0, Full), (1, Full)]], &[&[(0, Full)], &[(0, StoreStore), (1, Full)]]);
    }

    #[test]
    fn the_search_can_be_stopped() {
        // Rings of five pairs: each needs three fences where the bound says two, so that it cuts nothing off.
        let pairs = (0..60).map(|it| (it, it / 5 * 5 + (it + 1) % 5));
        let pairs: Vec<_> = pairs.map(|(a, b)| map(&[(a, Full), (b, Full)])).collect();
        let clauses: Vec<_> = pairs.iter().collect();
        let n_polls = std::cell::Cell::new(0);
        let poll = || {
            n_polls.set(n_polls.get() + 1);
            (n_polls.get() == 3).then_some(StopReason::Timeout)
        };
        let problem = Problem { clauses: &clauses, blocked: &[], cost: &|_, _| 1, kinds: &[Full], poll: &poll };
        assert_eq!(cheapest(&problem), Err(StopReason::Timeout));
    }

    #[test]
    fn all_minimal_sets_equal_brute_force() {
        let mut seed: u64 = 7;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        for _ in 0..300 {
            let n_clauses = 1 + next(5);
            let clauses: Vec<Vec<(usize, FenceKind)>> = (0..n_clauses)
                .map(|_| {
                    let chosen = (0..4).filter(|_| next(2) == 0).collect::<Vec<usize>>();
                    chosen.into_iter().map(|it| (it, if next(2) == 0 { Full } else { StoreStore })).collect()
                })
                .collect();
            let clauses: Vec<&[_]> = clauses.iter().map(Vec::as_slice).collect();
            let mut found = all(&clauses);
            found.sort();
            assert_eq!(found, brute_force(&clauses), "{clauses:?}");
        }
    }

    fn brute_force(clauses: Clauses<'_>) -> Vec<Vec<(usize, FenceKind)>> {
        let sets = (0..81).map(|code: usize| {
            let kinds = (0..4).map(|it| [None, Some(StoreStore), Some(Full)][code / 3_usize.pow(it) % 3]);
            Choice(map(&kinds.enumerate().filter_map(|(it, kind)| Some((it, kind?))).collect::<Vec<_>>()))
        });
        let hitting: Vec<_> = sets.filter(|set| clauses.iter().all(|clause| set.hits(&map(clause)))).collect();
        let is_minimal = |set: &&Choice| !hitting.iter().any(|other| other != *set && set.includes(other));
        let minimal = hitting.iter().filter(is_minimal);
        let mut all: Vec<Vec<_>> =
            minimal.map(|set| set.0.iter().map(|(it, &kind)| (it.index(), kind)).collect()).collect();
        all.sort();
        all
    }
}
