//! The values of registers at each point, and of locations whose values are not declared.
//!
//! Intervals flow along the edges of each thread, narrowed by its conditions and widened at loops to constants of the
//! text. A load gives whatever its location may hold; what is stored is joined to that.
//!
//! ```text
//!   closure   stores in loops are joined until nothing is new, widened if there is no end to it
//!   round     stores outside loops are joined once
//! ```
//!
//! A store outside a loop happens once in a run. So after as many rounds as there are such stores nothing is missing,
//! even if another round would add more: two threads with `x = x + 1` leave `x` in 0..2. Proof: take the stores of a
//! run in the order in which threads come by them. What a thread loads was stored before in that order, so by
//! induction, after `k` stores outside loops, every value stored so far is in the intervals of round `k`. The same goes
//! for the stores to one location alone, if what the others ever hold is known. Where that leaves wide intervals, loops
//! that are counted are taken apart ([`Graph::unrolled`]), so that their stores are not in loops.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::program::{BinaryOp, Domain, Expr, Initial, Micro, Op, Place, Program, RegisterId, Value};
use crate::program::{LocationId, Misuse};
use crate::util::IndexVec;
use crate::watch::heed;

use super::cfg::{Arc, Cfg, Node};
use super::intervals::{Interval, WORD, eval};
use super::narrow::{Registers, eval_rmw, guarded, narrow};
use super::unrolled::{Graph, for_each_assigned};

/// What a thread does, as far as values go.
pub(super) struct Flow {
    /// What its registers hold at each point that can be reached.
    at: IndexVec<Node, Option<Registers>>,
}

/// What locations may hold: by the first cell, for arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Memory(BTreeMap<LocationId, Interval>);

/// A node that is come by so often is widened.
const MAX_VISITS: u32 = 6;
/// Stores in loops are joined so often before they are widened.
const MAX_CLOSURES: u32 = 6;
/// No more stores outside loops are joined one round after the other.
const MAX_ROUNDS: usize = 40;

/// What is worth another look.
const WIDE: i128 = 1 << 12;

/// What each of the locations may hold that are to be found out.
pub(super) fn memory(
    program: &Program,
    cfgs: &[Cfg],
    inferred: &BTreeSet<LocationId>,
    unset: &BTreeSet<LocationId>,
) -> BTreeMap<LocationId, Domain> {
    let first = Memory::first(program, inferred, unset);
    let threads: Vec<Thread<'_>> = cfgs.iter().map(|cfg| Thread::new(program, cfg)).collect();
    let mut memory = settled(&threads, first.clone(), None);
    let wide: Vec<LocationId> = inferred.iter().copied().filter(|x| memory.0[x].is_wide(WIDE)).collect();
    if !wide.is_empty() {
        let threads: Vec<Thread<'_>> = cfgs.iter().map(|cfg| Thread::unrolled(program, cfg)).collect();
        memory = memory.meet(&settled(&threads, first.clone(), None));
        for x in wide {
            let mut alone = memory.clone();
            alone.0.insert(x, first.0[&x]);
            memory = memory.meet(&settled(&threads, alone, Some(x)));
        }
    }
    let domain = |values: Interval| match values {
        Interval::Bounded(lo, hi) => match (Value::try_from(lo), Value::try_from(hi)) {
            (Ok(lo), Ok(hi)) => Domain::Range(lo, hi),
            (Err(_), _) | (_, Err(_)) => Domain::Int,
        },
        Interval::Empty => Domain::Range(0, 0),
        Interval::All | Interval::TooLarge => Domain::Int,
    };
    inferred.iter().map(|&x| (x, domain(memory.0[&x]))).collect()
}

/// Joins all that is stored to what is there at first; or all that is stored to one location, if of the others all is
/// known that they ever hold.
fn settled(threads: &[Thread<'_>], mut memory: Memory, only: Option<LocationId>) -> Memory {
    let n_once: usize = threads.iter().map(|it| it.n_once(only)).sum();
    close(threads, &mut memory, only);
    for round in 0..n_once {
        let before = memory.clone();
        add_stores(threads, &mut memory, (false, only));
        if memory == before {
            break;
        }
        if round >= MAX_ROUNDS {
            memory.widen(&before, &BTreeSet::new());
        }
        close(threads, &mut memory, only);
    }
    memory
}

/// Joins what loops store until nothing is new.
fn close(threads: &[Thread<'_>], memory: &mut Memory, only: Option<LocationId>) {
    let steps: BTreeSet<i128> = threads.iter().flat_map(|it| it.steps.iter().copied()).collect();
    for n in 0.. {
        let before = memory.clone();
        add_stores(threads, memory, (true, only));
        if *memory == before {
            return;
        }
        if n >= MAX_CLOSURES {
            // Constants first; if that is not the end, anything.
            memory.widen(&before, if n < 2 * MAX_CLOSURES { &steps } else { const { &BTreeSet::new() } });
        }
    }
}

/// Joins what is stored in loops, or outside of them.
fn add_stores(threads: &[Thread<'_>], memory: &mut Memory, (in_loops, only): (bool, Option<LocationId>)) {
    let before = memory.clone();
    for thread in threads {
        thread.stores(&before, in_loops, &mut |x, values| {
            if only.is_none_or(|it| it == x) {
                memory.add(x, values);
            }
        });
    }
}

/// What the registers of a thread hold at each point.
pub(super) fn registers(program: &Program, cfg: &Cfg) -> Flow {
    let memory = Memory::first(program, &BTreeSet::new(), &BTreeSet::new());
    // What is loaded in a loop may fill the range of its location, which is no constant of the text.
    let within = |thread: Thread<'_>| Flow { at: thread.stopping_at(&memory).at_nodes(&memory) };
    let flow = within(Thread::new(program, cfg));
    let is_wide = cfg.slots.indices().any(|it| flow.values(it).is_wide(WIDE));
    match Graph::unrolled(cfg).filter(|_| is_wide) {
        Some(graph) => within(Thread::with(program, cfg, graph)),
        None => flow,
    }
}

impl Flow {
    /// All that a register ever holds.
    pub(super) fn values(&self, register: RegisterId) -> Interval {
        self.at.iter().flatten().fold(Interval::Empty, |all, it| all.join(it[register]))
    }

    /// What the registers hold at a point, if it can be reached.
    pub(super) fn at(&self, node: Node) -> Option<&Registers> {
        self.at[node].as_ref()
    }
}

impl Memory {
    /// What is there at first; of cells that are not set, nothing.
    fn first(program: &Program, inferred: &BTreeSet<LocationId>, unset: &BTreeSet<LocationId>) -> Self {
        let mut first = BTreeMap::new();
        for (x, location) in program.locations().iter_enumerated() {
            let group = group(program, x);
            let values = match (inferred.contains(&group), location.initial) {
                (true, _) if unset.contains(&x) => Interval::Empty,
                (true, Initial::Value(value)) => Interval::bounds(value, value),
                (true, Initial::Any) => Interval::All,
                (false, _) => Interval::of(location.domain),
            };
            let known = first.entry(group).or_insert(Interval::Empty);
            *known = known.join(values);
        }
        Self(first)
    }

    fn of(&self, program: &Program, place: &Place) -> Interval {
        self.0[&group_of(program, place)]
    }

    fn add(&mut self, x: LocationId, values: Interval) {
        let known = self.0.get_mut(&x).expect("every location is there");
        *known = known.join(values);
    }

    /// What both say.
    fn meet(&self, other: &Self) -> Self {
        Self(self.0.iter().map(|(&x, values)| (x, values.meet(other.0[&x]))).collect())
    }

    /// What has grown goes on to the next of these steps, or without end.
    fn widen(&mut self, before: &Self, steps: &BTreeSet<i128>) {
        for (x, values) in &mut self.0 {
            *values = widened(before.0[x], *values, steps);
        }
    }
}

/// The first cell of the array that a location is in, or itself.
fn group(program: &Program, x: LocationId) -> LocationId {
    program.array_of(x).map_or(x, |it| it.first)
}

fn group_of(program: &Program, place: &Place) -> LocationId {
    match place {
        Place::Fixed(location) => group(program, *location),
        Place::Cell(array, _) => program.arrays()[*array].first,
    }
}

fn widened(before: Interval, now: Interval, steps: &BTreeSet<i128>) -> Interval {
    let (Interval::Bounded(a, b), Interval::Bounded(c, d)) = (before, now) else { return now };
    let lo = if c < a { steps.range(..=c).next_back().copied() } else { Some(c) };
    let hi = if d > b { steps.range(d..).next().copied() } else { Some(d) };
    match (lo, hi) {
        (Some(lo), Some(hi)) => Interval::Bounded(lo, hi),
        (None, _) | (_, None) => Interval::All,
    }
}

/// A thread to be analysed.
struct Thread<'c> {
    program: &'c Program,
    cfg: &'c Cfg,
    graph: Graph,
    /// What widening stops at.
    steps: BTreeSet<i128>,
}

impl<'c> Thread<'c> {
    fn new(program: &'c Program, cfg: &'c Cfg) -> Self {
        Self::with(program, cfg, Graph::plain(cfg))
    }

    fn unrolled(program: &'c Program, cfg: &'c Cfg) -> Self {
        Self::with(program, cfg, Graph::unrolled(cfg).unwrap_or_else(|| Graph::plain(cfg)))
    }

    fn with(program: &'c Program, cfg: &'c Cfg, graph: Graph) -> Self {
        let mut steps = BTreeSet::from([0]);
        for arc in cfg.arcs.iter().filter(|arc| arc.misuse != Some(Misuse::SignedOverflow)) {
            for_each_constant(&arc.op, &mut |it| steps.extend([it - 1, it, it + 1]));
        }
        Self { program, cfg, graph, steps }
    }

    /// The same with the bounds of what memory holds as further steps.
    fn stopping_at(mut self, memory: &Memory) -> Self {
        for values in memory.0.values() {
            if let Interval::Bounded(lo, hi) = values {
                self.steps.extend([*lo, *hi]);
            }
        }
        self
    }

    /// The arcs in loops, or the others, with the copies that they leave. All are as if in loops where there is any
    /// number of threads.
    fn arcs(&self, in_loops: bool) -> impl Iterator<Item = (usize, &'c Arc)> {
        let all = self.graph.out.iter().enumerate().flat_map(|(from, out)| out.iter().map(move |it| (from, *it)));
        let is_round = move |from, to| self.cfg.has_any_number || self.graph.is_round(from, to);
        let those = all.filter(move |&(from, (_, to))| is_round(from, to) == in_loops);
        those.map(|(from, (i, _))| (from, &self.cfg.arcs[i]))
    }

    /// How many stores happen once at most; to one location, or all.
    fn n_once(&self, only: Option<LocationId>) -> usize {
        let counts = |place: &Place| only.is_none_or(|it| it == group_of(self.program, place));
        self.arcs(false).filter(|(_, arc)| stored(&arc.op).is_some_and(counts)).count()
    }

    /// What is stored by edges in loops, or by the others.
    fn stores(&self, memory: &Memory, in_loops: bool, tell: &mut dyn FnMut(LocationId, Interval)) {
        let at = self.flow(memory);
        for (from, arc) in self.arcs(in_loops) {
            let Some(registers) = &at[from] else { continue };
            match &arc.op {
                Op::Store(place, value) => {
                    tell(group_of(self.program, place), eval(value, &|it| registers[it]));
                }
                Op::Rmw { place, guard, write: Some(write), .. } => {
                    let old = guarded(guard, registers, memory.of(self.program, place));
                    tell(group_of(self.program, place), eval_rmw(write, registers, old));
                }
                Op::Locked(body) => for_each_store(body, &mut |place| {
                    tell(group_of(self.program, place), Interval::All);
                }),
                Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Load(..) | Op::Fence(_) => {}
                Op::Rmw { write: None, .. } => {}
            }
        }
    }

    /// What the registers hold at each point, if memory holds this.
    fn at_nodes(&self, memory: &Memory) -> IndexVec<Node, Option<Registers>> {
        let mut at: IndexVec<Node, Option<Registers>> = IndexVec::filled(self.cfg.n_nodes(), None);
        for (&node, new) in self.graph.nodes.iter().zip(self.flow(memory)) {
            let Some(new) = new else { continue };
            at[node] = Some(match &at[node] {
                None => new,
                Some(old) => old.iter().zip(&new).map(|(a, b)| a.join(*b)).collect(),
            });
        }
        at
    }

    /// The same at each copy of a point.
    fn flow(&self, memory: &Memory) -> Vec<Option<Registers>> {
        let mut at: Vec<Option<Registers>> = vec![None; self.graph.nodes.len()];
        let mut n_visits = vec![0; at.len()];
        let first = |slot: &super::cfg::Slot| match slot.initial {
            Some(Initial::Value(value)) => Interval::bounds(value, value),
            Some(Initial::Any) => slot.domain.map_or(Interval::All, Interval::of),
            None => Interval::bounds(0, 0),
        };
        at[self.graph.entry] = Some(self.cfg.slots.iter().map(first).collect());
        let mut todo = VecDeque::from([self.graph.entry]);
        let mut is_todo = vec![false; at.len()];
        while let Some(node) = todo.pop_front() {
            is_todo[node] = false;
            for &(i, to) in &self.graph.out[node] {
                heed(self.cfg.slots.len() as u32 + 4);
                let registers = at[node].clone().expect("a node that is to be done was reached");
                let Some(new) = self.after(&self.cfg.arcs[i].op, registers, memory) else { continue };
                let Some(joined) = self.joined(at[to].as_ref(), new, &mut n_visits[to]) else { continue };
                at[to] = Some(joined);
                if !std::mem::replace(&mut is_todo[to], true) {
                    todo.push_back(to);
                }
            }
        }
        at
    }

    /// What is known of a point joined with something new, if it is; widened where there is no end to it.
    fn joined(&self, known: Option<&Registers>, new: Registers, n_visits: &mut u32) -> Option<Registers> {
        let Some(old) = known else { return Some(new) };
        let joined: Registers = old.iter().zip(&new).map(|(a, b)| a.join(*b)).collect();
        if joined == *old {
            return None;
        }
        *n_visits += 1;
        if *n_visits <= MAX_VISITS {
            return Some(joined);
        }
        Some(old.iter().zip(&joined).map(|(a, b)| widened(*a, *b, &self.steps)).collect())
    }

    /// The registers behind an operation, if it can be passed.
    fn after(&self, op: &Op, mut registers: Registers, memory: &Memory) -> Option<Registers> {
        match op {
            Op::Assume(expr) | Op::Assert(expr) => {
                if !narrow(expr, &mut registers) {
                    return None;
                }
            }
            Op::Assign(register, expr) => registers[*register] = eval(expr, &|it| registers[it]),
            Op::Havoc(register, lo, hi) => registers[*register] = Interval::bounds(*lo, *hi),
            Op::Load(register, place) => registers[*register] = memory.of(self.program, place),
            Op::Rmw { place, guard, into, .. } => {
                let old = guarded(guard, &registers, memory.of(self.program, place));
                if old == Interval::Empty {
                    return None;
                }
                if let Some(register) = into {
                    registers[*register] = old;
                }
            }
            Op::Locked(body) => for_each_assigned(body, &mut |register| registers[register] = Interval::All),
            Op::Store(..) | Op::Fence(_) => {}
        }
        Some(registers)
    }
}

/// What is stored to.
fn stored(op: &Op) -> Option<&Place> {
    match op {
        Op::Store(place, _) | Op::Rmw { place, write: Some(_), .. } => Some(place),
        Op::Rmw { write: None, .. } | Op::Locked(_) => None,
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Load(..) | Op::Fence(_) => None,
    }
}

fn for_each_store(body: &[Micro], tell: &mut dyn FnMut(&Place)) {
    for micro in body {
        match micro {
            Micro::Store(place, _) => tell(place),
            Micro::Choose(branches) => branches.iter().for_each(|it| for_each_store(it, tell)),
            Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) | Micro::Load(..) => {}
        }
    }
}

fn for_each_constant(op: &Op, tell: &mut dyn FnMut(i128)) {
    match op {
        Op::Assume(it) | Op::Assert(it) | Op::Assign(_, it) => constants(it, tell),
        Op::Store(_, it) => constants(it, tell),
        Op::Rmw { guard, write, .. } => {
            constants(guard, tell);
            write.iter().for_each(|it| constants(it, tell));
        }
        Op::Havoc(_, lo, hi) => [*lo, *hi].into_iter().for_each(|it| tell(it.into())),
        Op::Load(..) | Op::Fence(_) | Op::Locked(_) => {}
    }
}

fn constants<V: PartialEq>(expr: &Expr<V>, tell: &mut dyn FnMut(i128)) {
    match expr {
        Expr::Const(value) => tell((*value).into()),
        Expr::Var(_) => {}
        Expr::Unary(_, operand) => constants(operand, tell),
        // The bounds of a type are no values that anything is about.
        Expr::Binary(BinaryOp::BitAnd, left, right) if **right == Expr::Const(WORD) => constants(left, tell),
        Expr::Binary(_, left, right) => {
            constants(left, tell);
            constants(right, tell);
        }
    }
}
