//! Loops that are counted, taken apart for the analysis of values.
//!
//! ```text
//!   i = 0; loop { if (!(i < 2)) break;  x = x + 1;  i = i + 1; }
//!
//!   i = 0 ─▶ i < 2 ─▶ x = x + 1 ─▶ i = 1 ─▶ i < 2 ─▶ x = x + 1 ─▶ i = 2 ─▶ break
//! ```
//!
//! A counter is a register whose value is known wherever the thread is: what is assigned to it is made of constants and
//! counters. The graph has a node for each control point with the values of those counters that matter there, so it has
//! the same runs as the thread, and what a counted loop does is on no circle. A short one whose stores are on no circle
//! any more becomes the program: its store buffers are seen to be bounded then.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{Expr, Initial, Micro, Op, RegisterId, RmwVar, Value};
use crate::util::{Idx, components};
use crate::watch::heed;

use super::cfg::{Arc, Cfg, Node};
use super::intervals::{Interval, eval};
use super::narrow::{Registers, narrow};

/// A thread's control points, or copies of them.
pub(super) struct Graph {
    /// What each is a copy of.
    pub nodes: Vec<Node>,
    pub entry: usize,
    /// The arcs that leave each, by number, and the copies they lead to.
    pub out: Vec<Vec<(usize, usize)>>,
    component: Vec<usize>,
}

/// Loops are not taken apart into more nodes for the analysis,
const MAX_COPIES: usize = 2_000;
/// nor for the program.
const MAX_NODES: usize = 600;

impl Graph {
    /// Each node once.
    pub(super) fn plain(cfg: &Cfg) -> Self {
        let mut out = vec![Vec::new(); cfg.n_nodes()];
        for (i, arc) in cfg.arcs.iter().enumerate() {
            out[arc.from.index()].push((i, arc.to.index()));
        }
        Self::new((0..cfg.n_nodes()).map(Node::from_usize).collect(), cfg.entry.index(), out)
    }

    /// With loops that are counted taken apart, if there are any and they are not long.
    pub(super) fn unrolled(cfg: &Cfg) -> Option<Self> {
        let counters: Vec<RegisterId> = counters(cfg).into_iter().collect();
        if counters.is_empty() { None } else { Copies::new(cfg, &counters).all() }
    }

    fn new(nodes: Vec<Node>, entry: usize, out: Vec<Vec<(usize, usize)>>) -> Self {
        let next: Vec<Vec<usize>> = out.iter().map(|it| it.iter().map(|&(_, to)| to).collect()).collect();
        Self { nodes, entry, out, component: components(&next) }
    }

    /// The arcs that store and are on a circle.
    fn stores_in_loops(&self, cfg: &Cfg) -> BTreeSet<usize> {
        let leaving = self.out.iter().enumerate().flat_map(|(from, out)| out.iter().map(move |it| (from, *it)));
        let round = leaving.filter(|&(from, (_, to))| self.is_round(from, to)).map(|(_, (i, _))| i);
        round.filter(|&i| stores(&cfg.arcs[i].op)).collect()
    }

    /// Whether an arc between two nodes is on a circle.
    pub(super) fn is_round(&self, from: usize, to: usize) -> bool {
        self.component[from] == self.component[to]
    }
}

/// Takes short loops that are counted apart, if fewer stores are in loops then.
pub(super) fn unroll(cfg: &mut Cfg) {
    let in_loops = Graph::plain(cfg).stores_in_loops(cfg);
    if in_loops.is_empty() {
        return;
    }
    let is_worth_it = |it: &Graph| it.nodes.len() <= MAX_NODES && it.stores_in_loops(cfg).len() < in_loops.len();
    let Some(graph) = Graph::unrolled(cfg).filter(is_worth_it) else { return };
    let counters = counters(cfg);
    let mut arcs: Vec<(usize, Arc)> = Vec::new();
    for (from, out) in graph.out.iter().enumerate() {
        for &(i, to) in out {
            let mut arc = Arc { from: Node::from_usize(from), to: Node::from_usize(to), ..cfg.arcs[i].clone() };
            // A condition over counters alone is known to hold here.
            if let Op::Assume(condition) = &arc.op
                && is_over(condition, &counters)
            {
                arc.op = Op::Assume(Expr::TRUE);
            }
            arcs.push((i, arc));
        }
    }
    arcs.sort_by_key(|it| it.0);
    let arcs = arcs.into_iter().map(|(_, arc)| arc).collect();
    cfg.replace(&graph.nodes, Node::from_usize(graph.entry), arcs);
}

fn is_over(condition: &Expr<RegisterId>, registers: &BTreeSet<RegisterId>) -> bool {
    let mut is_over = true;
    condition.for_each_var(&mut |it| is_over &= registers.contains(it));
    is_over
}

fn stores(op: &Op) -> bool {
    match op {
        Op::Store(..) | Op::Locked(_) | Op::Rmw { write: Some(_), .. } => true,
        Op::Rmw { write: None, .. } | Op::Fence(_) | Op::Load(..) => false,
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => false,
    }
}

/// Nodes with the values of counters.
struct Copies<'c> {
    cfg: &'c Cfg,
    counters: &'c [RegisterId],
    leaving: BTreeMap<Node, Vec<usize>>,
    live: BTreeMap<Node, BTreeSet<RegisterId>>,
    numbers: BTreeMap<(Node, Vec<Value>), usize>,
    todo: Vec<(Node, Vec<Value>)>,
}

impl<'c> Copies<'c> {
    fn new(cfg: &'c Cfg, counters: &'c [RegisterId]) -> Self {
        let mut leaving: BTreeMap<Node, Vec<usize>> = BTreeMap::new();
        for (i, arc) in cfg.arcs.iter().enumerate() {
            leaving.entry(arc.from).or_default().push(i);
        }
        let live = live(cfg, counters);
        Self { cfg, counters, leaving, live, numbers: BTreeMap::new(), todo: Vec::new() }
    }

    /// All copies that can be reached; none if there are too many.
    fn all(mut self) -> Option<Graph> {
        let first = self.counters.iter().map(|&it| first_value(self.cfg, it).unwrap_or(0)).collect();
        self.number(self.cfg.entry, first);
        let mut out: Vec<Vec<(usize, usize)>> = Vec::new();
        while let Some((node, values)) = self.todo.get(out.len()).cloned() {
            let mut leaving = Vec::new();
            for i in self.leaving.get(&node).cloned().unwrap_or_default() {
                heed(self.cfg.slots.len() as u32 + 4);
                match self.after(&self.cfg.arcs[i].op, &values)? {
                    Some(values) => leaving.push((i, self.number(self.cfg.arcs[i].to, values))),
                    // Nobody gets past an assertion that fails, wherever it leads.
                    None if matches!(self.cfg.arcs[i].op, Op::Assert(_)) => leaving.push((i, out.len())),
                    None => {}
                }
            }
            out.push(leaving);
            if self.todo.len() > MAX_COPIES {
                return None;
            }
        }
        Some(Graph::new(self.todo.into_iter().map(|(node, _)| node).collect(), 0, out))
    }

    /// The number of a copy; what is not looked at any more does not tell copies apart.
    fn number(&mut self, node: Node, mut values: Vec<Value>) -> usize {
        for (value, counter) in values.iter_mut().zip(self.counters) {
            if !self.live.get(&node).is_some_and(|it| it.contains(counter)) {
                *value = 0;
            }
        }
        let next = self.todo.len();
        let number = *self.numbers.entry((node, values.clone())).or_insert(next);
        if number == next {
            self.todo.push((node, values));
        }
        number
    }

    /// The values behind an operation, if it can be passed; nothing if they are out of range.
    fn after(&self, op: &Op, values: &[Value]) -> Option<Option<Vec<Value>>> {
        let mut registers: Registers = self.cfg.slots.iter().map(|_| Interval::All).collect();
        for (&counter, &value) in self.counters.iter().zip(values) {
            registers[counter] = Interval::bounds(value, value);
        }
        match op {
            Op::Assume(condition) | Op::Assert(condition) if !narrow(condition, &mut registers) => return Some(None),
            Op::Assign(register, expr) if self.counters.contains(register) => {
                registers[*register] = eval(expr, &|it| registers[it]);
            }
            Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Load(..) => {}
            Op::Store(..) | Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => {}
        }
        self.counters.iter().map(|&it| exactly(registers[it])).collect::<Option<Vec<_>>>().map(Some)
    }
}

fn exactly(values: Interval) -> Option<Value> {
    match values {
        Interval::Bounded(lo, hi) if lo == hi => Value::try_from(lo).ok(),
        Interval::Empty | Interval::Bounded(..) | Interval::All | Interval::TooLarge => None,
    }
}

/// What a register holds at first, if that is one value.
fn first_value(cfg: &Cfg, register: RegisterId) -> Option<Value> {
    match cfg.slots[register].initial {
        Some(Initial::Value(value)) => Some(value),
        Some(Initial::Any) => None,
        None => Some(0),
    }
}

/// Registers that are known wherever the thread is, and are made of themselves.
fn counters(cfg: &Cfg) -> BTreeSet<RegisterId> {
    let mut known: BTreeSet<RegisterId> = cfg.slots.indices().filter(|&it| first_value(cfg, it).is_some()).collect();
    let mut made_of: BTreeMap<RegisterId, BTreeSet<RegisterId>> = BTreeMap::new();
    for arc in &cfg.arcs {
        if let Op::Assign(register, expr) = &arc.op {
            let sources = made_of.entry(*register).or_default();
            expr.for_each_var(&mut |it| sources.extend([*it]));
        }
        for_each_found(&arc.op, &mut |it| {
            known.remove(&it);
        });
    }
    loop {
        let is_known = |it: &RegisterId| made_of.get(it).is_none_or(|sources| sources.is_subset(&known));
        let left: BTreeSet<RegisterId> = known.iter().copied().filter(is_known).collect();
        if left.len() == known.len() {
            break;
        }
        known = left;
    }
    known.iter().copied().filter(|&it| feeds_itself(&made_of, it)).collect()
}

fn feeds_itself(made_of: &BTreeMap<RegisterId, BTreeSet<RegisterId>>, register: RegisterId) -> bool {
    let mut seen = BTreeSet::new();
    let mut todo = vec![register];
    while let Some(it) = todo.pop() {
        heed(2);
        for &source in made_of.get(&it).into_iter().flatten() {
            if source == register {
                return true;
            }
            if seen.insert(source) {
                todo.push(source);
            }
        }
    }
    false
}

/// Registers that get what is not made of registers.
fn for_each_found(op: &Op, tell: &mut dyn FnMut(RegisterId)) {
    match op {
        Op::Havoc(register, ..) | Op::Load(register, _) | Op::Rmw { into: Some(register), .. } => tell(*register),
        Op::Locked(body) => for_each_assigned(body, tell),
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Store(..) | Op::Fence(_) | Op::Rmw { .. } => {}
    }
}

/// Registers that are assigned to in a step.
pub(super) fn for_each_assigned(body: &[Micro], tell: &mut dyn FnMut(RegisterId)) {
    for micro in body {
        match micro {
            Micro::Assign(register, _) | Micro::Havoc(register, ..) | Micro::Load(register, _) => tell(*register),
            Micro::Choose(branches) => branches.iter().for_each(|it| for_each_assigned(it, tell)),
            Micro::Assume(_) | Micro::Assert(_) | Micro::Store(..) => {}
        }
    }
}

/// The counters that are looked at behind each node before they are assigned to.
fn live(cfg: &Cfg, counters: &[RegisterId]) -> BTreeMap<Node, BTreeSet<RegisterId>> {
    let counters: BTreeSet<RegisterId> = counters.iter().copied().collect();
    let mut live: BTreeMap<Node, BTreeSet<RegisterId>> = BTreeMap::new();
    loop {
        let mut is_new = false;
        for arc in cfg.arcs.iter().rev() {
            heed(4);
            let mut before = live.get(&arc.to).cloned().unwrap_or_default();
            if let Op::Assign(register, _) = &arc.op {
                before.remove(register);
            }
            for_each_used(&arc.op, &mut |it| before.extend([it]));
            let known = live.entry(arc.from).or_default();
            let n = known.len();
            known.extend(before.intersection(&counters));
            is_new |= known.len() > n;
        }
        if !is_new {
            return live;
        }
    }
}

fn for_each_used(op: &Op, tell: &mut dyn FnMut(RegisterId)) {
    match op {
        // What a step as a whole looks at need not be known so well.
        Op::Havoc(..) | Op::Load(..) | Op::Fence(_) | Op::Locked(_) => {}
        Op::Assume(it) | Op::Assert(it) | Op::Assign(_, it) | Op::Store(_, it) => used(it, tell),
        Op::Rmw { guard, write, .. } => {
            let mut old_aside = |it: &RmwVar| match it {
                RmwVar::Register(register) => tell(*register),
                RmwVar::Old => {}
            };
            guard.for_each_var(&mut old_aside);
            write.iter().for_each(|it| it.for_each_var(&mut old_aside));
        }
    }
}

fn used(expr: &Expr<RegisterId>, tell: &mut dyn FnMut(RegisterId)) {
    expr.for_each_var(&mut |it| tell(*it));
}
