//! A way through the machine as one conjunction: is it feasible, with which integers, and if not, why.
//!
//! Every value on the way is a node: what memory and registers start with, what is picked, and what is assigned. A
//! guard, a range and an assignment of a sum are edges `u - w ≤ c` that know at which step they came; a copy is the
//! same node again. The way is infeasible if and only if the edges have a negative cycle, over the integers too.
//!
//! **Refinement.** Cut the way behind step `i`. The edges of the cycle that came up to there fall into runs
//! `u → … → w`, and each run says `u - w ≤ Σ`. Those are true behind step `i` on the way, they follow from those of the
//! step before and the step itself, and at the end they cannot be. And `u` and `w` are on both sides of the cut, so
//! they are values of variables there. So if every `Σ` is a threshold, the abstract search cannot go this way again: a
//! sequence interpolant, read off the cycle. That the same node is the same value needs the threshold 0, which is
//! always there ([`templates`](super::templates)).
//!
//! **Remainders** of nodes are known from the start, from guards, and by sums. An edge between two known nodes is
//! tightened to a difference that they can have, and the cycle may take that one. Where there is no cycle and all the
//! same no integers are left, since values whose remainder is not known lie between such as have one, the bounds that
//! hold exactly behind each step are the interpolants ([`Ssa::exact`]).
//!
//! **Linear constraints** on the way are rows over nodes. If they and the edges have a refutation, its multipliers give
//! interpolants as well: the sum of what came up to a cut, each row as often as the refutation takes it. If they have
//! none, integers are looked for one node after the other.

use std::collections::BTreeSet;

use crate::engine::predicates::machine::{Condition, Skeleton, Transition};
use crate::engine::predicates::site::{Predicate, Site, sites};
use crate::engine::predicates::templates::Wanted;
use crate::engine::symbolic::difference::Remainder;
use crate::engine::symbolic::layout::Layout;
use crate::numeric::{Bound, Row, Term, Zone, refutation};
use crate::program::Value;

/// A way of more nodes is not looked at exactly behind each step.
const MAX_EXACT: usize = 256;

/// A way, as differences.
#[derive(Debug)]
pub(super) struct Ssa {
    /// The node of each variable, now.
    now: Vec<usize>,
    n_nodes: usize,
    edges: Vec<Edge>,
    /// Nodes that are others plus constants.
    sums: Vec<(usize, usize, Value)>,
    /// What remainders are by.
    modulus: Value,
    /// Remainders of nodes.
    remainders: Vec<Known>,
    /// What is no difference, over nodes, and the step that it came with.
    rows: Dated,
    /// Behind each step: where it leads, and the node of each variable.
    cuts: Vec<(Skeleton, Vec<usize>)>,
    n_steps: usize,
}

/// Rows over nodes, and the step that each came with.
type Dated = Vec<(Row, usize)>;

/// `left - right ≤ bound`, by nodes; node 0 is the constant 0.
#[derive(Clone, Copy, Debug)]
struct Edge {
    left: usize,
    right: usize,
    bound: i128,
    /// The step that it came with; 0 is the start.
    step: usize,
}

/// The remainder of a node.
#[derive(Clone, Copy, Debug)]
struct Known {
    node: usize,
    remainder: Value,
    /// The step that it came with.
    step: usize,
}

/// What came of a way.
#[derive(Debug)]
pub(super) enum Solved {
    /// It is feasible, with these values of nodes.
    Integers(Vec<i128>),
    /// It is not, and this keeps it out.
    Refuted(Vec<Wanted>),
    /// There are rational numbers for it, and no integers were found.
    Unsolved,
}

/// The nodes of all variables behind a step, and of what it picked.
#[derive(Clone, Debug)]
pub(super) struct Versions {
    /// Of variables.
    pub variables: Vec<usize>,
    /// Of what was picked.
    pub picked: Vec<usize>,
}

impl Ssa {
    /// The start.
    pub(super) fn new(initial: &Zone, at: &Skeleton) -> Self {
        let n = initial.n_variables();
        let now: Vec<usize> = (0..n).collect();
        let cuts = vec![(at.clone(), now.clone())];
        let known = |node: usize| Some(Known { node, remainder: initial.remainder(node)?, step: 0 });
        let mut ssa = Self {
            now,
            n_nodes: n,
            edges: Vec::new(),
            sums: Vec::new(),
            modulus: initial.modulus(),
            remainders: (0..n).filter_map(known).collect(),
            rows: Vec::new(),
            cuts,
            n_steps: 0,
        };
        for i in 1..n {
            ssa.add(i, 0, initial.bound(i, 0));
            ssa.add(0, i, initial.bound(0, i));
        }
        ssa
    }

    /// Another step.
    pub(super) fn take(&mut self, transition: &Transition) -> Versions {
        self.n_steps += 1;
        let mut before = self.now.clone();
        let picked: Vec<usize> = (0..transition.n_picked).map(|_| self.node()).collect();
        before.extend(&picked);
        self.require(&transition.when, &before);
        self.now.clear();
        for term in &transition.terms {
            let node = match term.plus {
                0 => before[term.base],
                plus => self.sum(before[term.base], plus),
            };
            self.now.push(node);
        }
        self.cuts.push((transition.to.clone(), self.now.clone()));
        Versions { variables: self.now.clone(), picked }
    }

    /// In the end this holds.
    pub(super) fn end(&mut self, condition: &Condition) {
        self.n_steps += 1;
        let now = self.now.clone();
        self.require(condition, &now);
    }

    /// Whether the way is feasible.
    pub(super) fn solved(&self, layout: &Layout) -> Solved {
        let mut last = Vec::new();
        let edges = [&self.edges[..], &self.tightened()].concat();
        // The shortest beginning that is infeasible says most about why.
        for step in 0..=self.n_steps {
            match self.distances(&edges, step) {
                Ok(distances) => last = distances,
                Err(cycle) => return Solved::Refuted(self.thresholds(&cycle)),
            }
        }
        if self.modulus > 1 && self.zone(self.n_steps).is_none() {
            return Solved::Refuted(self.exact());
        }
        if self.rows.is_empty() && self.modulus > 1 {
            return self.integers().map_or(Solved::Unsolved, Solved::Integers);
        }
        if self.rows.is_empty() {
            return Solved::Integers(last.iter().map(|it| it - last[0]).collect());
        }
        match self.refuted() {
            Some((rows, multipliers)) => Solved::Refuted(self.interpolants(layout, &rows, &multipliers)),
            None => self.integers().map_or(Solved::Unsolved, Solved::Integers),
        }
    }

    fn node(&mut self) -> usize {
        self.n_nodes += 1;
        self.n_nodes - 1
    }

    /// A new node that is another one plus a constant.
    fn sum(&mut self, of: usize, plus: Value) -> usize {
        let node = self.node();
        self.sums.push((node, of, plus));
        self.add(node, of, Bound::at_most(plus));
        self.add(of, node, Bound::ZERO.shifted(-i128::from(plus)));
        node
    }

    fn require(&mut self, condition: &Condition, nodes: &[usize]) {
        for guard in &condition.guards {
            self.add(nodes[guard.left], nodes[guard.right], guard.bound);
        }
        let known =
            |it: &Remainder<usize>| Known { node: nodes[it.variable], remainder: it.remainder, step: self.n_steps };
        self.remainders.extend(condition.remainders.iter().map(known));
        for row in &condition.rows {
            let coefficients = row.coefficients().iter().map(|&(variable, factor)| (nodes[variable], factor));
            self.rows.extend(Row::new(coefficients, row.bound()).map(|row| (row, self.n_steps)));
        }
    }

    fn add(&mut self, left: usize, right: usize, bound: Bound) {
        if let Some(bound) = bound.value() {
            self.edges.push(Edge { left, right, bound: i128::from(bound), step: self.n_steps });
        }
    }

    /// Shortest distances over the edges up to a step (Bellman and Ford), or a negative cycle, each edge of which leads
    /// from where the one before it ends.
    fn distances(&self, edges: &[Edge], step: usize) -> Result<Vec<i128>, Vec<Edge>> {
        let mut distance = vec![0_i128; self.n_nodes];
        let mut parents: Vec<Option<Edge>> = vec![None; self.n_nodes];
        let edges: Vec<Edge> = edges.iter().copied().filter(|edge| edge.step <= step).collect();
        loop {
            let mut has_changed = false;
            for &edge in &edges {
                let through = distance[edge.right] + edge.bound;
                if through < distance[edge.left] {
                    distance[edge.left] = through;
                    parents[edge.left] = Some(edge);
                    has_changed = true;
                }
            }
            if let Some(cycle) = cycle(&parents) {
                return Err(cycle);
            }
            if !has_changed {
                return Ok(distance);
            }
        }
    }

    /// The bounds of all runs of a cycle, for all cuts.
    fn thresholds(&self, cycle: &[Edge]) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        for cut in 0..self.n_steps {
            let is_early = |edge: &Edge| edge.step <= cut;
            // Start with an edge behind the cut, so that no run goes around.
            let Some(first) = cycle.iter().position(|edge| !is_early(edge)) else { break };
            let around: Vec<Edge> = [&cycle[first..], &cycle[..first]].concat();
            for run in around.split(|edge| !is_early(edge)).filter(|run| !run.is_empty()) {
                let (left, right) = (run[0].left, run[run.len() - 1].right);
                let sum: i128 = run.iter().map(|edge| edge.bound).sum();
                if let Ok(threshold) = Value::try_from(sum) {
                    let is_single = left == 0 || right == 0;
                    wanted.push(if is_single { Wanted::Single(threshold) } else { Wanted::Pair(threshold) });
                }
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    /// The remainders of all nodes that are known, by sums too, each with the step from which on it is.
    fn known(&self) -> Vec<Option<Known>> {
        let mut known: Vec<Option<Known>> = vec![None; self.n_nodes];
        for it in &self.remainders {
            known[it.node].get_or_insert(*it);
        }
        // A sum is made after what it is a sum of.
        let forward = self.sums.iter().map(|&(node, of, plus)| (node, of, plus));
        let backward = self.sums.iter().rev().map(|&(node, of, plus)| (of, node, plus.saturating_neg()));
        for (node, of, plus) in backward.chain(forward) {
            let remainder = |it: Known| (it.remainder + plus.rem_euclid(self.modulus)) % self.modulus;
            let found = known[of].map(|it| Known { node, remainder: remainder(it), ..it });
            known[node] = known[node].or(found);
        }
        known
    }

    /// Edges between nodes whose remainders are known, where these make them tighter.
    fn tightened(&self) -> Vec<Edge> {
        if self.modulus == 1 {
            return Vec::new();
        }
        let known = self.known();
        let tightened = self.edges.iter().filter_map(|edge| {
            let (left, right) = (known[edge.left]?, known[edge.right]?);
            let difference = i128::from(left.remainder - right.remainder);
            let over = (edge.bound - difference).rem_euclid(i128::from(self.modulus));
            let step = edge.step.max(left.step).max(right.step);
            (over > 0).then_some(Edge { bound: edge.bound - over, step, ..*edge })
        });
        tightened.collect()
    }

    /// All nodes up to a step, without rows; `None` if no integers are left.
    fn zone(&self, step: usize) -> Option<Zone> {
        let edges = self.edges.iter().filter(|it| it.step <= step);
        let remainders = self.remainders.iter().filter(|it| it.step <= step).map(|it| (it.node, it.remainder));
        let bounds = edges.map(|it| (it.left, it.right, Bound::ZERO.shifted(it.bound)));
        Zone::new(self.n_nodes, bounds, (self.modulus, remainders))
    }

    /// All bounds that hold behind each step of the way.
    fn exact(&self) -> Vec<Wanted> {
        let mut wanted = BTreeSet::new();
        if self.n_nodes > MAX_EXACT {
            return Vec::new();
        }
        for (cut, (_, nodes)) in self.cuts.iter().enumerate() {
            let Some(zone) = self.zone(cut) else { break };
            for (i, &left) in nodes.iter().enumerate() {
                for (j, &right) in nodes.iter().enumerate().filter(|(_, right)| **right != left) {
                    let threshold = zone.bound(left, right).value();
                    let is_single = i == 0 || j == 0;
                    wanted.extend(threshold.map(|it| if is_single { Wanted::Single(it) } else { Wanted::Pair(it) }));
                }
            }
        }
        wanted.into_iter().collect()
    }

    /// All that came up to a step, as rows.
    fn rows_until(&self, step: usize) -> Dated {
        let edges = self.edges.iter().filter(|edge| edge.step <= step);
        let edges = edges.filter_map(|it| Some((Row::new([(it.left, 1), (it.right, -1)], it.bound)?, it.step)));
        edges.chain(self.rows.iter().filter(|it| it.1 <= step).cloned()).collect()
    }

    /// The rows of the shortest beginning that is infeasible, and how often each is taken to refute it.
    fn refuted(&self) -> Option<(Dated, Vec<i128>)> {
        let refute = |step: usize| {
            let rows = self.rows_until(step);
            let plain: Vec<Row> = rows.iter().map(|it| it.0.clone()).collect();
            refutation(&plain).map(|multipliers| (rows, multipliers))
        };
        let (mut found, mut possible, mut refuted) = (refute(self.n_steps)?, 0, self.n_steps);
        while possible < refuted {
            let middle = usize::midpoint(possible, refuted);
            match refute(middle) {
                Some(earlier) => (found, refuted) = (earlier, middle),
                None => possible = middle + 1,
            }
        }
        Some(found)
    }

    /// What a refutation says behind each step.
    fn interpolants(&self, layout: &Layout, rows: &[(Row, usize)], multipliers: &[i128]) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        for (cut, (at, nodes)) in self.cuts.iter().enumerate() {
            let taken = rows.iter().zip(multipliers).filter(|((_, step), _)| *step <= cut);
            let sum = Row::sum(taken.map(|((row, _), &times)| (row, times)));
            let Some(sum) = sum.filter(|sum| !sum.coefficients().is_empty()) else { continue };
            let variable = |node: usize| nodes.iter().position(|&it| it == node);
            let coefficients = sum.coefficients().iter().map(|&(node, factor)| Some((variable(node)?, factor)));
            let Some(coefficients) = coefficients.collect::<Option<Vec<_>>>() else { continue };
            let sites: Vec<Site> = sites(layout, at);
            if let Some(row) = Row::new(coefficients, sum.bound()) {
                wanted.extend(threshold(&row));
                wanted.push(Wanted::Predicate(Predicate::new(&row, &sites)));
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    /// Integers for all nodes, if they are found without going back.
    fn integers(&self) -> Option<Vec<i128>> {
        let mut zone = self.zone(self.n_steps)?;
        if self.rows.is_empty() {
            let values = zone.valuation(&vec![None; self.n_nodes])?;
            return Some(values.into_iter().map(i128::from).collect());
        }
        self.narrow(&mut zone).then_some(())?;
        for node in 1..self.n_nodes {
            let ends = [zone.bound(node, 0).value(), zone.bound(0, node).value().and_then(Value::checked_neg)];
            let least = zone.valuation(&vec![None; self.n_nodes]).map(|values| values[node]);
            let tried = least.into_iter().chain(ends.into_iter().flatten());
            let fixed = tried.map(|value| {
                let mut fixed = zone.clone();
                let is_possible = fixed.equate(Term::var(node), Term::constant(value)) && self.narrow(&mut fixed);
                is_possible.then_some(fixed)
            });
            zone = fixed.flatten().next()?;
        }
        (0..self.n_nodes).map(|node| zone.bound(node, 0).value().map(i128::from)).collect()
    }

    /// Adds to a zone what the rows say; false if no valuation is left.
    fn narrow(&self, zone: &mut Zone) -> bool {
        (0..self.rows.len().min(8) + 1).all(|_| self.rows.iter().all(|(row, _)| row.narrow(zone)))
    }
}

/// The threshold that a row is, if it is a difference.
fn threshold(row: &Row) -> Option<Wanted> {
    let bound = Value::try_from(row.bound()).ok()?;
    match *row.coefficients() {
        [(_, 1 | -1)] => Some(Wanted::Single(bound)),
        [(_, 1), (_, -1)] | [(_, -1), (_, 1)] => Some(Wanted::Pair(bound)),
        _ => None,
    }
}

/// A cycle among parents, if there is one; then it is negative.
fn cycle(parents: &[Option<Edge>]) -> Option<Vec<Edge>> {
    // Which walk came by a node first.
    let mut seen: Vec<Option<usize>> = vec![None; parents.len()];
    for start in 0..parents.len() {
        let mut at = start;
        while seen[at].is_none() {
            seen[at] = Some(start);
            let Some(edge) = parents[at] else { break };
            at = edge.right;
        }
        if seen[at] == Some(start) && parents[at].is_some() {
            let mut cycle = Vec::new();
            let first = at;
            while let Some(edge) = parents[at] {
                cycle.push(edge);
                at = edge.right;
                if at == first {
                    return Some(cycle);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
