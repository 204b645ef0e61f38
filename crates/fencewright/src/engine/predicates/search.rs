//! The forward search: all that the abstract machine can reach, breadth first.
//!
//! A configuration whose data is part of another's, with the same control and buffers, is left out.

use std::collections::HashMap;

use crate::engine::StopReason;
use crate::engine::predicates::bad::Bad;
use crate::engine::predicates::machine::{Condition, Machine, Rising, Rule, Skeleton};
use crate::engine::predicates::templates::{Data, Templates};
use crate::numeric::Zone;
use crate::program::{ProcessId, RegisterId};
use crate::util::{Idx, IndexVec};
use crate::watch::{Monitor, Progress, Stop, heed};

/// What a search needs to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Problem<'a> {
    /// What can happen.
    pub machine: Machine<'a>,
    /// What must not.
    pub bad: &'a Bad,
    /// How data starts.
    pub initial: &'a Zone,
    /// By process and state, the registers that do not matter any more.
    pub dead: &'a IndexVec<ProcessId, Vec<Vec<RegisterId>>>,
}

/// How a search ends.
#[derive(Debug)]
pub(super) enum End {
    /// Nothing bad is reached.
    Safe,
    /// This way leads to something bad, if the abstraction is believed.
    Alarm(Alarm),
    /// This is said to rise, but may not.
    Falls(Rising),
    /// The monitor says stop.
    Stopped(StopReason),
}

/// A way to something bad.
#[derive(Debug)]
pub(super) struct Alarm {
    /// What happens.
    pub rules: Vec<Rule>,
    /// What is bad about the data in the end.
    pub end: Condition,
}

/// The monitor is asked after so many configurations.
const POLL_EVERY: usize = 64;

/// What a transition takes, for [`heed`].
const WORK_OF_TRANSITION: u32 = 30;

/// What is reached.
#[derive(Debug, Default)]
pub(super) struct Reached {
    nodes: Vec<Node>,
    /// Those that are kept, by control and buffers.
    kept: HashMap<Skeleton, Vec<usize>>,
    n_kept: u64,
    bytes: u64,
}

#[derive(Debug)]
struct Node {
    at: Skeleton,
    data: Data,
    /// From where, and how; `None` for the first.
    from: Option<(usize, Rule)>,
    /// Whether a node that was found later has all of this one's data and more.
    is_covered: bool,
}

impl Reached {
    /// Searches; `explored` configurations have been looked at before.
    pub(super) fn search(
        &mut self,
        problem: &Problem<'_>,
        templates: &Templates,
        explored: &mut u64,
        monitor: &dyn Monitor,
    ) -> End {
        let first = Node {
            at: problem.machine.initial(),
            data: templates.first(&problem.machine, problem.initial),
            from: None,
            is_covered: false,
        };
        if let Some(end) = self.add(problem, templates, first) {
            return self.alarm(end);
        }
        let mut next = 0;
        while next < self.nodes.len() {
            if next.is_multiple_of(POLL_EVERY) {
                let queued = (self.nodes.len() - next) as u64;
                let progress = Progress { explored: *explored, queued, depth: 0, bytes: self.bytes };
                if let Some(stop) = monitor.poll(&progress) {
                    return End::Stopped(match stop {
                        Stop::Spent(n) => StopReason::Diverged(n),
                        Stop::Time | Stop::Memory | Stop::Asked => stop.into(),
                    });
                }
            }
            if !self.nodes[next].is_covered {
                *explored += 1;
                if let Some(end) = self.expand(problem, templates, next) {
                    return end;
                }
            }
            next += 1;
        }
        End::Safe
    }

    /// How many configurations are kept.
    pub(super) fn n_kept(&self) -> u64 {
        self.n_kept
    }

    /// The bytes they take, roughly.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds all that comes after a node; how the search ends if it does.
    fn expand(&mut self, problem: &Problem<'_>, templates: &Templates, at: usize) -> Option<End> {
        for transition in problem.machine.transitions(&self.nodes[at].at) {
            heed(WORK_OF_TRANSITION);
            let Node { at: skeleton, data, .. } = &self.nodes[at];
            let Some(mut after) = templates.after(&problem.machine, skeleton, data, &transition) else { continue };
            if let Some(what) = after.falls {
                return Some(End::Falls(what));
            }
            let process = transition.rule.process;
            for &register in &problem.dead[process][transition.to.states[process.index()] as usize] {
                after.zone.forget(problem.machine.layout.register(process, register));
            }
            let data = templates.kept(after);
            let node = Node { at: transition.to, data, from: Some((at, transition.rule)), is_covered: false };
            if let Some(end) = self.add(problem, templates, node) {
                return Some(self.alarm(end));
            }
        }
        None
    }

    /// Adds a node unless it is covered; what is bad about it, if anything is.
    fn add(&mut self, problem: &Problem<'_>, templates: &Templates, node: Node) -> Option<Condition> {
        let id = self.nodes.len();
        let alike = self.kept.entry(node.at.clone()).or_default();
        if alike.iter().any(|&it| self.nodes[it].data.includes(&node.data)) {
            return None;
        }
        let n_before = alike.len();
        alike.retain(|&it| {
            self.nodes[it].is_covered = node.data.includes(&self.nodes[it].data);
            !self.nodes[it].is_covered
        });
        self.n_kept = self.n_kept + 1 + alike.len() as u64 - n_before as u64;
        alike.push(id);
        let n = node.data.zone.n_variables();
        self.bytes += (n * n * 8 + 64 * node.at.states.len() + 64) as u64;
        let known = templates.known_rows(&problem.machine, &node.at, &node.data);
        let bad = problem.bad.reached(&node.at, &node.data.zone, &known);
        self.nodes.push(node);
        bad
    }

    /// The way to the node that was added last.
    fn alarm(&self, end: Condition) -> End {
        let mut rules = Vec::new();
        let mut at = self.nodes.len() - 1;
        while let Some((from, rule)) = self.nodes[at].from {
            rules.push(rule);
            at = from;
        }
        rules.reverse();
        End::Alarm(Alarm { rules, end })
    }
}
