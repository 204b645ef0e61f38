//! Hangs, from their definition: where each thread is stuck under each memory, by trying all of them.
//!
//! A hang is a configuration in which all buffers are empty, every thread has ended or is stuck with memory as it is,
//! and one is stuck that may not be. A thread is stuck in a local state if, without changing memory, it can come to
//! where nothing that it can do is possible, or to where it can go round for ever, reading some of memory. This is
//! looked up for each thread and each content of the locations that it touches there, one after the other: slow, and
//! nothing to get wrong ([`mod@stuck`]). What holds whatever a location holds is then said once.
//!
//! Fences that are laid over the program play no part: they delay a thread, and it may as well stay before them.
//!
//! Registers that no longer matter hold 0 ([`live`](super::live)), and combinations of places that nobody can have left
//! memory for are left out ([`last`]).
//!
//! Where data is unbounded, not all may be tried. There it is read off the text where threads may be stuck ([`ways`],
//! [`left`]), which is enough for a proof that none is.

mod conditions;
mod last;
mod left;
mod stuck;
mod ways;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::memory::Buffering;
use crate::program::{
    BinaryOp, Expr, LocationId, Placement, PointId, ProcessId, Program, Property, PropertyKind, PropertyWords,
    RegisterId, Situation, StateVar, Value,
};
use crate::source::Span;
use crate::system::{Control, Flow};
use crate::util::{Idx, IndexVec};

use last::{Lasts, is_possible, lasts};
use stuck::stuck;

use super::held::held;
use super::live::Live;
use super::locals::{Letter, LocalState, Offers, Values};
use super::verify::{Failure, Steps};

/// Threads that may wait for ever at a label: the name of the thread, or of its family, without blanks, and the label.
type MayWait = [(String, String)];

/// More combinations of places than this are not listed.
const MAX_SITUATIONS: usize = 50_000;

/// The program with nothing to violate but that it must not hang. Where an assertion fails, nobody waits.
///
/// # Errors
/// There is too much to try.
pub(super) fn asked(program: &Program, may_wait: &MayWait, steps: &mut Steps<'_>) -> Result<Program, Failure> {
    let plain = program.with_properties([]);
    let situations = match listed(&plain, may_wait, steps) {
        Err(Failure::Refused(_)) if plain.has_unbounded_data() => ways::situations(&plain, may_wait, steps)?,
        listed => listed?,
    };
    let (kind, text, words) = (PropertyKind::Hang, String::new(), PropertyWords::default());
    let property = Property { kind, situations, text, words, span: Span::default() };
    Ok(plain.with_assumed(&|_| true).with_properties([property]))
}

/// Whether nothing is forbidden but hangs.
pub(super) fn is_exact(program: &Program, may_wait: &MayWait, steps: &mut Steps<'_>) -> bool {
    !program.has_unbounded_data() || listed(&program.with_properties([]), may_wait, steps).is_ok()
}

/// Where all threads are stuck or have ended, by trying all that memory can hold.
fn listed(plain: &Program, may_wait: &MayWait, steps: &mut Steps<'_>) -> Result<Vec<Situation>, Failure> {
    let values = held(plain, steps)?;
    let flow = Flow { program: plain, placement: &Placement::NONE };
    // Whether a store waits makes no difference to who is stuck.
    let offers = Offers { flow, buffering: Buffering::Fifo, values: &values, foreign: &BTreeSet::new() };
    let mut places = IndexVec::new();
    for process in plain.processes().indices() {
        let thread = Thread::new(&offers, process, may_wait, steps)?;
        places.push(thread.places(&values, steps)?);
    }
    together(plain, &places, steps)
}

/// Whether a thread is meant by the name of a thread or of a family.
fn is_meant(program: &Program, process: ProcessId, name: &str) -> bool {
    let own: String = program.processes()[process].name.split_whitespace().collect();
    name == own || own.split('(').next() == Some(name)
}

/// What some locations hold.
type Held = BTreeMap<LocationId, Value>;

/// Where a thread may be for ever, and when.
#[derive(Clone, Debug)]
struct Place {
    points: Vec<PointId>,
    registers: Expr<StateVar>,
    memory: Held,
    /// Whether it may be there for ever.
    is_fine: bool,
    /// What it may have stored last; `None` if that is not known.
    lasts: Option<BTreeSet<Lasts>>,
}

/// All that a thread can do.
struct Thread<'a> {
    program: &'a Program,
    process: ProcessId,
    locals: Vec<LocalState>,
    /// From where, what, and where to.
    steps: Vec<(usize, Letter, usize)>,
    /// From where an `assume` does not hold to where it began.
    again: Vec<(usize, usize)>,
    may_wait: Vec<bool>,
    n_starts: usize,
}

impl<'a> Thread<'a> {
    fn new(
        offers: &Offers<'a>,
        process: ProcessId,
        may_wait: &MayWait,
        counter: &mut Steps<'_>,
    ) -> Result<Self, Failure> {
        let live = Live::new(offers.flow.program);
        let mut numbers: BTreeMap<LocalState, usize> = BTreeMap::new();
        let mut locals: Vec<LocalState> = Vec::new();
        let mut number = |state: LocalState, locals: &mut Vec<LocalState>| {
            *numbers.entry(state.clone()).or_insert_with(|| {
                locals.push(state);
                locals.len() - 1
            })
        };
        for start in offers.starts(process)? {
            counter.step(locals.len() as u64 * 64)?;
            number(live.kept(process, start), &mut locals);
        }
        let n_starts = locals.len();
        let mut steps = Vec::new();
        let mut from = 0;
        while from < locals.len() {
            counter.step(locals.len() as u64 * 64)?;
            for (letter, to) in offers.steps(process, &locals[from].clone())? {
                steps.push((from, letter, number(live.kept(process, to), &mut locals)));
            }
            from += 1;
        }
        let program = offers.flow.program;
        let meant = may_wait.iter().filter(|it| is_meant(program, process, &it.0));
        let labels: Vec<&str> = meant.map(|it| it.1.as_str()).collect();
        let is_labelled =
            |point: PointId| program.points()[point].labels.iter().any(|it| labels.contains(&it.as_str()));
        let may_wait = locals.iter().map(|it| point(it).is_some_and(is_labelled)).collect();
        let mut thread = Self { program, process, locals, steps, again: Vec::new(), may_wait, n_starts };
        thread.again = thread.waits();
        Ok(thread)
    }

    fn is_end(&self, state: usize) -> bool {
        point(&self.locals[state]).is_some_and(|it| self.program.points()[it].is_end)
    }

    /// The `assume` that a local state is in, if it is in one.
    fn wait_of(&self, state: usize) -> Option<Span> {
        let edge = *self.program.points()[point(&self.locals[state])?].edges.first()?;
        let span = self.program.edges()[edge].span;
        self.program.waits().iter().copied().find(|it| it.start <= span.start && span.end <= it.end)
    }

    /// What was read for an `assume` is read again where it does not hold: back to all states in which it was entered.
    fn waits(&self) -> Vec<(usize, usize)> {
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); self.locals.len()];
        let mut has_steps = vec![false; self.locals.len()];
        for (from, _, to) in &self.steps {
            into[*to].push(*from);
            has_steps[*from] = true;
        }
        let waits: Vec<Option<Span>> = (0..self.locals.len()).map(|it| self.wait_of(it)).collect();
        let mut out = Vec::new();
        for last in (0..self.locals.len()).filter(|&it| waits[it].is_some() && !has_steps[it] && !self.is_end(it)) {
            let mut seen = BTreeSet::from([last]);
            let mut todo = vec![last];
            while let Some(at) = todo.pop() {
                let (within, outside): (Vec<usize>, Vec<usize>) =
                    into[at].iter().copied().partition(|&it| waits[it] == waits[last]);
                if at != last && (at < self.n_starts || !outside.is_empty() || within.is_empty()) {
                    out.push((last, at));
                }
                todo.extend(within.into_iter().filter(|&it| seen.insert(it)));
            }
        }
        out
    }

    /// Where it may be for ever: at its ends, and where it is stuck.
    fn places(&self, values: &Values, counter: &mut Steps<'_>) -> Result<Vec<Place>, Failure> {
        let lasts = lasts(self, values, self.n_starts, counter)?;
        let lasts_in = |states: &mut dyn Iterator<Item = usize>| {
            lasts.as_ref().map(|all| states.map(|state| Rc::clone(&all[state])).collect::<BTreeSet<Lasts>>())
        };
        let ends: Vec<usize> = (0..self.locals.len()).filter(|&it| self.is_end(it)).collect();
        let points: BTreeSet<PointId> = ends.iter().filter_map(|&it| point(&self.locals[it])).collect();
        let mut out = Vec::new();
        if !points.is_empty() {
            let (points, lasts) = (points.into_iter().collect(), lasts_in(&mut ends.into_iter()));
            out.push(Place { points, registers: Expr::TRUE, memory: Held::new(), is_fine: true, lasts });
        }
        for ((memory, is_fine), states) in stuck(self, values, counter)? {
            let mut anyhow = Vec::new();
            let lasts_at = |points: &[PointId]| {
                let is_there = |it: &usize| point(&self.locals[*it]).is_some_and(|it| points.contains(&it));
                lasts_in(&mut states.iter().copied().filter(is_there))
            };
            for (point, registers) in self.by_point(&states) {
                let (points, lasts) = (vec![point], lasts_at(&[point]));
                match registers == Expr::TRUE {
                    true => anyhow.push(point),
                    false => out.push(Place { points, registers, memory: memory.clone(), is_fine, lasts }),
                }
            }
            if !anyhow.is_empty() {
                let lasts = lasts_at(&anyhow);
                out.push(Place { points: anyhow, registers: Expr::TRUE, memory, is_fine, lasts });
            }
        }
        Ok(out)
    }

    /// Some local states by their points, with what registers hold in them, if that tells them from others there.
    fn by_point(&self, states: &BTreeSet<usize>) -> Vec<(PointId, Expr<StateVar>)> {
        let points: BTreeSet<PointId> = states.iter().filter_map(|&it| point(&self.locals[it])).collect();
        let told = points.into_iter().map(|at| {
            let all = (0..self.locals.len()).filter(|&it| point(&self.locals[it]) == Some(at));
            let (these, others): (Vec<usize>, Vec<usize>) = all.partition(|it| states.contains(it));
            let mut needed: Vec<RegisterId> = self.program.processes()[self.process].registers.indices().collect();
            for register in needed.clone() {
                let less: Vec<RegisterId> = needed.iter().copied().filter(|&it| it != register).collect();
                let here: BTreeSet<Vec<Value>> = these.iter().map(|&it| self.held(it, &less)).collect();
                if others.iter().all(|&it| !here.contains(&self.held(it, &less))) {
                    needed = less;
                }
            }
            let held: BTreeSet<Vec<Value>> = these.iter().map(|&it| self.held(it, &needed)).collect();
            let one = |values: Vec<Value>| {
                let pairs = needed.iter().zip(values);
                all_of(pairs.map(|(&it, value)| equals(StateVar::Register(self.process, it), value)))
            };
            let any = held.into_iter().map(one).reduce(|a, b| Expr::binary(BinaryOp::Or, a, b));
            (at, any.unwrap_or(Expr::TRUE))
        });
        told.collect()
    }

    fn held(&self, state: usize, registers: &[RegisterId]) -> Vec<Value> {
        match &self.locals[state] {
            LocalState::Here(_, values) => registers.iter().map(|it| values[it.index()]).collect(),
            LocalState::Broken(_) => Vec::new(),
        }
    }
}

/// Every combination of places in which all threads are, one of which may not be there for ever.
fn together(
    program: &Program,
    places: &IndexVec<ProcessId, Vec<Place>>,
    steps: &mut Steps<'_>,
) -> Result<Vec<Situation>, Failure> {
    let mut chosen: Vec<(Vec<&Place>, Held)> = vec![(Vec::new(), Held::new())];
    for mine in places {
        let mut next = Vec::new();
        for (before, memory) in &chosen {
            for place in mine {
                steps.step(0)?;
                if let Some(both) = met(memory, &place.memory) {
                    next.push(([&before[..], &[place]].concat(), both));
                }
            }
        }
        if next.len() > MAX_SITUATIONS {
            return Failure::refused("threads can be stuck in too many combinations of places");
        }
        chosen = next;
    }
    let mut out = Vec::new();
    for (places, memory) in chosen.iter().filter(|it| it.0.iter().any(|place| !place.is_fine)) {
        steps.step(0)?;
        let lasts: Option<Vec<&BTreeSet<Lasts>>> = places.iter().map(|it| it.lasts.as_ref()).collect();
        let may_be = lasts.map_or(Ok(true), |lasts| is_possible(program, memory, &lasts))?;
        if may_be {
            out.push(situation(places, memory));
        }
    }
    Ok(out)
}

fn situation(places: &[&Place], memory: &Held) -> Situation {
    let at = places.iter().enumerate().map(|(i, place)| (ProcessId::from_usize(i), place.points.clone()));
    let registers = places.iter().map(|it| it.registers.clone()).filter(|it| *it != Expr::TRUE);
    let cells = memory.iter().map(|(&x, &value)| equals(StateVar::Memory(x), value));
    Situation { at: at.collect(), condition: all_of(registers.chain(cells)) }
}

/// What both say of memory, unless they contradict each other.
fn met(a: &Held, b: &Held) -> Option<Held> {
    let agrees = |it: (&LocationId, &Value)| a.get(it.0).is_none_or(|value| value == it.1);
    b.iter().all(agrees).then(|| a.iter().chain(b).map(|it| (*it.0, *it.1)).collect())
}

fn point(state: &LocalState) -> Option<PointId> {
    match state {
        LocalState::Here(Control::At(point), _) => Some(*point),
        LocalState::Here(Control::Ready(_) | Control::Done(_), _) | LocalState::Broken(_) => None,
    }
}

fn equals(variable: StateVar, value: Value) -> Expr<StateVar> {
    Expr::binary(BinaryOp::Eq, Expr::Var(variable), Expr::Const(value))
}

fn all_of(parts: impl Iterator<Item = Expr<StateVar>>) -> Expr<StateVar> {
    parts.reduce(|a, b| Expr::binary(BinaryOp::And, a, b)).unwrap_or(Expr::TRUE)
}
