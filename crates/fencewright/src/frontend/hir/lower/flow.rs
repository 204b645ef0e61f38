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
//! induction, after `k` stores outside loops, every value stored so far is in the intervals of round `k`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::program::LocationId;
use crate::program::{BinaryOp, Domain, Expr, Initial, Micro, Op, Place, Program, RegisterId, RmwVar, UnaryOp, Value};
use crate::util::{Idx, IndexVec};
use crate::watch::heed;

use super::cfg::{Arc, Cfg, Node};
use super::intervals::{Interval, eval};

/// The values of the registers of a thread at a point.
type Registers = IndexVec<RegisterId, Interval>;

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

/// What each of the locations may hold that are to be found out.
pub(super) fn memory(
    program: &Program,
    cfgs: &[Cfg],
    inferred: &BTreeSet<LocationId>,
    unset: &BTreeSet<LocationId>,
) -> BTreeMap<LocationId, Domain> {
    let mut memory = Memory::first(program, inferred, unset);
    let threads: Vec<Thread<'_>> = cfgs.iter().map(|cfg| Thread::new(program, cfg)).collect();
    let n_once: usize = threads.iter().map(Thread::n_once).sum();
    close(&threads, &mut memory);
    for round in 0..n_once {
        let before = memory.clone();
        threads.iter().for_each(|it| it.stores(&before, false, &mut |x, values| memory.add(x, values)));
        if memory == before {
            break;
        }
        if round >= MAX_ROUNDS {
            memory.widen(&before, &BTreeSet::new());
        }
        close(&threads, &mut memory);
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

/// Joins what loops store until nothing is new.
fn close(threads: &[Thread<'_>], memory: &mut Memory) {
    let steps: BTreeSet<i128> = threads.iter().flat_map(|it| it.steps.iter().copied()).collect();
    for n in 0.. {
        let before = memory.clone();
        threads.iter().for_each(|it| it.stores(&before, true, &mut |x, values| memory.add(x, values)));
        if *memory == before {
            return;
        }
        if n >= MAX_CLOSURES {
            // Constants first; if that is not the end, anything.
            memory.widen(&before, if n < 2 * MAX_CLOSURES { &steps } else { const { &BTreeSet::new() } });
        }
    }
}

/// What the registers of a thread hold at each point.
pub(super) fn registers(program: &Program, cfg: &Cfg) -> Flow {
    let thread = Thread::new(program, cfg);
    Flow { at: thread.flow(&Memory::first(program, &BTreeSet::new(), &BTreeSet::new())) }
}

impl Flow {
    /// All that a register ever holds.
    pub(super) fn values(&self, register: RegisterId) -> Interval {
        self.at.iter().flatten().fold(Interval::Empty, |all, it| all.join(it[register]))
    }

    /// Drops `& mask` where it changes nothing.
    pub(super) fn unmask(&self, cfg: &mut Cfg) {
        for i in 0..cfg.arcs.len() {
            if let Some(registers) = &self.at[cfg.arcs[i].from] {
                let unmasked = |expr: &Expr<RegisterId>| unmasked(expr, &|it| registers[it]);
                let op = match &cfg.arcs[i].op {
                    Op::Assign(register, expr) => Op::Assign(*register, unmasked(expr)),
                    Op::Assume(expr) => Op::Assume(unmasked(expr)),
                    Op::Assert(expr) => Op::Assert(unmasked(expr)),
                    Op::Store(place, expr) => Op::Store(place.clone(), unmasked(expr)),
                    op @ (Op::Havoc(..) | Op::Load(..) | Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_)) => op.clone(),
                };
                cfg.arcs[i].op = op;
            }
        }
    }
}

impl Flow {
    /// Drops assertions that the text does not have where they hold whatever happens.
    pub(super) fn drop_held(&self, cfg: &mut Cfg) {
        for arc in cfg.arcs.iter_mut().filter(|arc| arc.misuse.is_some()) {
            if let (Op::Assert(condition), Some(registers)) = (&arc.op, &self.at[arc.from])
                && always(condition, registers)
            {
                (arc.op, arc.misuse) = (Op::Assume(Expr::TRUE), None);
            }
        }
        cfg.simplify();
    }
}

/// Whether a condition holds for all values of the registers.
fn always(condition: &Expr<RegisterId>, registers: &Registers) -> bool {
    match condition {
        Expr::Const(value) => *value != 0,
        Expr::Binary(BinaryOp::And, left, right) => always(left, registers) && always(right, registers),
        Expr::Binary(BinaryOp::Or, left, right) => always(left, registers) || always(right, registers),
        Expr::Binary(op, left, right) if op.is_comparison() => {
            let not = Expr::binary(*op, (**left).clone(), (**right).clone()).negated();
            !narrow(&not, &mut registers.clone())
        }
        Expr::Var(_) | Expr::Unary(UnaryOp::Not | UnaryOp::Neg, _) | Expr::Binary(..) => false,
    }
}

fn unmasked(expr: &Expr<RegisterId>, of: &dyn Fn(RegisterId) -> Interval) -> Expr<RegisterId> {
    match expr {
        Expr::Const(_) | Expr::Var(_) => expr.clone(),
        Expr::Unary(op, operand) => Expr::unary(*op, unmasked(operand, of)),
        Expr::Binary(BinaryOp::BitAnd, left, right) => {
            let left = unmasked(left, of);
            match (eval(&left, of), &**right) {
                (Interval::Bounded(lo, hi), Expr::Const(mask))
                    if lo >= 0 && hi <= i128::from(*mask) && (mask + 1).count_ones() == 1 =>
                {
                    left
                }
                _ => Expr::binary(BinaryOp::BitAnd, left, unmasked(right, of)),
            }
        }
        Expr::Binary(op, left, right) => Expr::binary(*op, unmasked(left, of), unmasked(right, of)),
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
    out: IndexVec<Node, Vec<usize>>,
    /// Whether each arc is on a circle.
    is_round: Vec<bool>,
    /// What widening stops at.
    steps: BTreeSet<i128>,
}

impl<'c> Thread<'c> {
    fn new(program: &'c Program, cfg: &'c Cfg) -> Self {
        let mut out: IndexVec<Node, Vec<usize>> = IndexVec::filled(cfg.n_nodes(), Vec::new());
        for (i, arc) in cfg.arcs.iter().enumerate() {
            out[arc.from].push(i);
        }
        let mut steps = BTreeSet::from([0]);
        for arc in &cfg.arcs {
            for_each_constant(&arc.op, &mut |it| steps.extend([it - 1, it, it + 1]));
        }
        let is_round = cfg.arcs.iter().map(|arc| leads_to(cfg, &out, arc.to, arc.from)).collect();
        Self { program, cfg, out, is_round, steps }
    }

    fn n_once(&self) -> usize {
        let is_once = |(arc, is_round): (&Arc, &bool)| !is_round && stored(&arc.op).is_some();
        self.cfg.arcs.iter().zip(&self.is_round).filter(|&it| is_once(it)).count()
    }

    /// What is stored by edges in loops, or by the others.
    fn stores(&self, memory: &Memory, in_loops: bool, tell: &mut dyn FnMut(LocationId, Interval)) {
        let at = self.flow(memory);
        for (arc, _) in self.cfg.arcs.iter().zip(&self.is_round).filter(|(_, is_round)| **is_round == in_loops) {
            let Some(registers) = &at[arc.from] else { continue };
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
    fn flow(&self, memory: &Memory) -> IndexVec<Node, Option<Registers>> {
        let mut at: IndexVec<Node, Option<Registers>> = IndexVec::filled(self.cfg.n_nodes(), None);
        let mut n_visits: IndexVec<Node, u32> = IndexVec::filled(self.cfg.n_nodes(), 0);
        let first = |slot: &super::cfg::Slot| match slot.initial {
            Some(Initial::Value(value)) => Interval::bounds(value, value),
            Some(Initial::Any) => slot.domain.map_or(Interval::All, Interval::of),
            None => Interval::bounds(0, 0),
        };
        at[self.cfg.entry] = Some(self.cfg.slots.iter().map(first).collect());
        let mut todo = VecDeque::from([self.cfg.entry]);
        while let Some(node) = todo.pop_front() {
            for &i in &self.out[node] {
                heed(self.cfg.slots.len() as u32 + 4);
                let arc = &self.cfg.arcs[i];
                let registers = at[node].clone().expect("a node that is to be done was reached");
                let Some(new) = self.after(&arc.op, registers, memory) else { continue };
                let joined = match &at[arc.to] {
                    None => new,
                    Some(old) => {
                        let joined: Registers = old.iter().zip(&new).map(|(a, b)| a.join(*b)).collect();
                        if joined == *old {
                            continue;
                        }
                        n_visits[arc.to] += 1;
                        match n_visits[arc.to] > MAX_VISITS {
                            true => {
                                let pairs = old.iter().zip(&joined);
                                pairs.map(|(a, b)| widened(*a, *b, &self.steps)).collect()
                            }
                            false => joined,
                        }
                    }
                };
                at[arc.to] = Some(joined);
                if !todo.contains(&arc.to) {
                    todo.push_back(arc.to);
                }
            }
        }
        at
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

fn for_each_assigned(body: &[Micro], tell: &mut dyn FnMut(RegisterId)) {
    for micro in body {
        match micro {
            Micro::Assign(register, _) | Micro::Havoc(register, ..) | Micro::Load(register, _) => tell(*register),
            Micro::Choose(branches) => branches.iter().for_each(|it| for_each_assigned(it, tell)),
            Micro::Assume(_) | Micro::Assert(_) | Micro::Store(..) => {}
        }
    }
}

fn leads_to(cfg: &Cfg, out: &IndexVec<Node, Vec<usize>>, from: Node, to: Node) -> bool {
    let mut is_seen: IndexVec<Node, bool> = IndexVec::filled(cfg.n_nodes(), false);
    let mut todo = vec![from];
    while let Some(node) = todo.pop() {
        heed(1);
        if node == to {
            return true;
        }
        if !std::mem::replace(&mut is_seen[node], true) {
            todo.extend(out[node].iter().map(|&i| cfg.arcs[i].to));
        }
    }
    false
}

/// Narrows registers to where a condition holds; whether it can hold.
fn narrow(condition: &Expr<RegisterId>, registers: &mut Registers) -> bool {
    match condition {
        Expr::Const(value) => *value != 0,
        Expr::Binary(BinaryOp::And, left, right) => narrow(left, registers) && narrow(right, registers),
        Expr::Binary(op, left, right) if is_comparison(*op) => {
            let (a, b) = (eval(left, &|it| registers[it]), eval(right, &|it| registers[it]));
            let (Some(a), Some(b)) = (bounds(a), bounds(b)) else { return true };
            let (new_a, new_b) = compared(*op, a, b);
            for (side, new) in [(left, new_a), (right, new_b)] {
                if new.0 > new.1 {
                    return false;
                }
                if let Expr::Var(register) = &**side {
                    registers[*register] = interval(new);
                }
            }
            true
        }
        Expr::Var(_) | Expr::Unary(UnaryOp::Not | UnaryOp::Neg, _) | Expr::Binary(..) => true,
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
}

/// Bounds, far out where there are none.
type Bounds = (i128, i128);
const FAR: i128 = 1 << 100;

fn bounds(values: Interval) -> Option<Bounds> {
    match values {
        Interval::Empty => None,
        Interval::Bounded(lo, hi) => Some((lo, hi)),
        Interval::All | Interval::TooLarge => Some((-FAR, FAR)),
    }
}

fn interval((lo, hi): Bounds) -> Interval {
    if lo <= -FAR || hi >= FAR { Interval::All } else { Interval::Bounded(lo, hi) }
}

/// Both sides, where the comparison holds.
fn compared(op: BinaryOp, (a, b): Bounds, (c, d): Bounds) -> (Bounds, Bounds) {
    match op {
        BinaryOp::Eq => ((a.max(c), b.min(d)), (a.max(c), b.min(d))),
        BinaryOp::Ne => (without((a, b), (c, d)), without((c, d), (a, b))),
        BinaryOp::Lt => ((a, b.min(d - 1)), (c.max(a + 1), d)),
        BinaryOp::Le => ((a, b.min(d)), (c.max(a), d)),
        BinaryOp::Gt => ((a.max(c + 1), b), (c, d.min(b - 1))),
        BinaryOp::Ge => ((a.max(c), b), (c, d.min(b))),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => ((a, b), (c, d)),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => ((a, b), (c, d)),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Min | BinaryOp::Max => ((a, b), (c, d)),
    }
}

fn without((a, b): Bounds, (c, d): Bounds) -> Bounds {
    if c != d {
        return (a, b);
    }
    (if a == c { a + 1 } else { a }, if b == c { b - 1 } else { b })
}

/// What the place of an update holds if its guard lets it happen.
fn guarded(guard: &Expr<RmwVar>, registers: &Registers, old: Interval) -> Interval {
    let Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), left, right) = guard else { return old };
    if **left != Expr::Var(RmwVar::Old) {
        return old;
    }
    match (bounds(old), bounds(eval_rmw(right, registers, old))) {
        (Some(a), Some(b)) => {
            let (new, _) = compared(*op, a, b);
            if new.0 > new.1 { Interval::Empty } else { interval(new) }
        }
        (None, _) | (_, None) => old,
    }
}

fn eval_rmw(expr: &Expr<RmwVar>, registers: &Registers, old: Interval) -> Interval {
    // The old value is looked up as one more register.
    let extra: RegisterId = Idx::from_usize(registers.len());
    let expr = expr.map(&mut |it| match it {
        RmwVar::Old => extra,
        RmwVar::Register(register) => *register,
    });
    eval(&expr, &|it| if it == extra { old } else { registers[it] })
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

fn constants<V>(expr: &Expr<V>, tell: &mut dyn FnMut(i128)) {
    match expr {
        Expr::Const(value) => tell((*value).into()),
        Expr::Var(_) => {}
        Expr::Unary(_, operand) => constants(operand, tell),
        Expr::Binary(_, left, right) => {
            constants(left, tell);
            constants(right, tell);
        }
    }
}
