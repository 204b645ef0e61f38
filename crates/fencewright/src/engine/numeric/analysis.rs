//! The fixed point: a description of numbers for every key that may be reached.
//!
//! A key is where all processes are and all that is kept exactly. Descriptions are joined within a key only. Where a
//! process comes to the head of one of its loops they are joined a few times, then widened; a key that grows for all
//! that is given up, so that the search ends for every domain. Then states are followed once more from what was found,
//! without widening, as long as something seems to go wrong and a few times at most: what holds of all states that
//! follow from all that may be reached holds of all that may be reached.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::analysis::Facts;
use crate::engine::numeric::ahead::ahead;
use crate::engine::numeric::alarm::Alarm;
use crate::engine::numeric::evaluate::{Cell, Evaluator};
use crate::engine::numeric::execute::Executor;
use crate::engine::numeric::heads::Heads;
use crate::engine::numeric::layout::{Kind, Layout, Variable, thresholds};
use crate::engine::numeric::order::{Apart, Order, Pairs};
use crate::engine::{Stats, StopReason};
use crate::numeric::{Domain, Linear, Thresholds};
use crate::program::{EdgeId, Initial, PointId, ProcessId, RegisterId, Value};
use crate::translate::Translated;
use crate::util::{Idx, IndexVec};
use crate::watch::{Monitor, Progress};

/// A loop head is joined so often before it is widened.
const DELAY: u32 = 3;

/// A key that has grown so often is widened wherever it is, and past all thresholds.
const PATIENCE: u32 = 24;

/// A key that has grown so often is given up: all numbers are possible.
const MAX_GROWTH: u32 = 96;

/// States are followed so often after the fixed point.
const DESCENTS: usize = 2;

/// No more keys than this are looked at, each as often as it grows.
const MAX_EXPLORED: u64 = 300_000;

/// No more starts than this are told apart.
const MAX_STARTS: usize = 4_096;

/// The monitor is asked after so many keys.
const POLL_EVERY: u64 = 64;

/// Where processes are, and what is kept exactly.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub points: IndexVec<ProcessId, PointId>,
    pub exact: IndexVec<Variable, Value>,
    /// How numbers are ordered that are compared.
    pub order: Box<[Order]>,
}

/// What is known of a key.
#[derive(Clone, Debug)]
struct Entry<D> {
    key: Key,
    numbers: D,
    /// How often it has grown.
    growth: u32,
}

/// What came out.
#[derive(Debug)]
pub(super) enum End {
    /// Nothing goes wrong.
    Safe,
    /// This may go wrong.
    Alarm(Alarm),
    /// Nothing goes wrong, but a buffer may have too few slots.
    Overflow,
    /// The search was stopped.
    Stopped(StopReason),
}

/// What goes wrong in some states.
#[derive(Debug, Default)]
struct Wrong {
    alarm: Option<Alarm>,
    overflows: bool,
}

/// What is looked at, and how closely.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub translated: &'a Translated,
    pub layout: &'a Layout,
    pub apart: Apart,
}

/// A translated program and what is found out about it.
pub(super) struct Analysis<'a, D> {
    translated: &'a Translated,
    layout: &'a Layout,
    facts: Arc<Facts>,
    heads: Heads,
    is_ahead: IndexVec<PointId, bool>,
    thresholds: Thresholds,
    pairs: Pairs,
    entries: Vec<Entry<D>>,
    ids: FxHashMap<Key, usize>,
    /// Keys to be looked at, those first to which control comes first.
    todo: BTreeSet<(u32, usize)>,
    pub stats: Stats,
}

impl<'a, D: Domain> Analysis<'a, D> {
    /// `stats` has what was looked at before.
    pub(super) fn new(question: Question<'a>, stats: Stats) -> Self {
        let Question { translated, layout, apart } = question;
        let program = &translated.program;
        Self {
            translated,
            layout,
            facts: Facts::of(program),
            heads: Heads::new(translated),
            is_ahead: ahead(program),
            thresholds: thresholds(program),
            pairs: Pairs::new(program, layout, apart),
            entries: Vec::new(),
            ids: FxHashMap::default(),
            todo: BTreeSet::new(),
            stats,
        }
    }

    /// What may go wrong.
    pub(super) fn run(&mut self, monitor: &dyn Monitor) -> End {
        let Some(starts) = self.starts() else { return End::Stopped(StopReason::States(0)) };
        let points: IndexVec<ProcessId, PointId> =
            self.translated.program.processes().iter().map(|it| it.entry).collect();
        for start in starts.clone() {
            self.arrive(points.clone(), start, false);
        }
        let ended = self.ascend(monitor);
        self.stats.kept = self.entries.len() as u64;
        self.stats.bytes = self.bytes().max(self.stats.bytes);
        if let Err(end) = ended {
            return end;
        }
        self.descend(&points, &starts, monitor)
    }

    /// Every way to start; `None` if there are too many.
    fn starts(&self) -> Option<Vec<Cell<D>>> {
        let exact = IndexVec::filled(self.layout.variables.len(), 0);
        let mut cells = vec![Cell { exact, numbers: D::all(self.layout.n_dimensions()) }];
        for (variable, known) in self.layout.variables.iter_enumerated() {
            let range = match known.initial {
                Initial::Value(value) => Some((value, value)),
                Initial::Any => known.domain.bounds(),
            };
            match (known.kind, range) {
                (Kind::Exact, range) => {
                    let (lo, hi) = range?;
                    let with = |cell: &Cell<D>, value| {
                        let mut cell = cell.clone();
                        cell.exact[variable] = value;
                        cell
                    };
                    cells = cells.iter().flat_map(|cell| (lo..=hi).map(|value| with(cell, value))).collect();
                }
                (Kind::Number(dimension), range) => {
                    let [lo, hi] = [range.map(|it| i128::from(it.0)), range.map(|it| i128::from(it.1))];
                    let start = |cell: &Cell<D>| cell.between(&Linear::var(dimension), lo, hi);
                    cells = cells.iter().filter_map(start).collect();
                }
            }
            (cells.len() <= MAX_STARTS).then_some(())?;
        }
        Some(cells)
    }

    /// Follows states until nothing new comes.
    fn ascend(&mut self, monitor: &dyn Monitor) -> Result<(), End> {
        // Without numbers nothing is joined, and what is seen to go wrong does so in the end.
        let is_exact = self.layout.n_numbers == 0;
        while let Some((_, id)) = self.todo.pop_first() {
            self.poll(monitor)?;
            let mut wrong = Wrong::default();
            for (edge, points, cell) in self.successors(id, &mut wrong) {
                let is_head = self.heads.is_head[self.translated.program.edges()[edge].to];
                self.arrive(points, cell, is_head);
            }
            if is_exact && (wrong.alarm.is_some() || wrong.overflows) {
                return Err(wrong.end());
            }
        }
        Ok(())
    }

    fn poll(&mut self, monitor: &dyn Monitor) -> Result<(), End> {
        self.stats.explored += 1;
        let explored = self.stats.explored;
        if explored.is_multiple_of(POLL_EVERY) {
            let bytes = self.bytes();
            self.stats.bytes = bytes.max(self.stats.bytes);
            let progress = Progress { explored, queued: self.todo.len() as u64, depth: 0, bytes };
            if let Some(reason) = monitor.poll(&progress) {
                return Err(End::Stopped(reason.into()));
            }
        }
        match explored < MAX_EXPLORED {
            true => Ok(()),
            false if self.layout.n_numbers == 0 => Err(End::Stopped(StopReason::States(explored))),
            // What goes wrong is looked for at the end only.
            false => Err(End::Stopped(StopReason::Diverged(explored))),
        }
    }

    /// About how many bytes all descriptions take. A key is kept twice.
    fn bytes(&self) -> u64 {
        let key = self.translated.program.processes().len() * 4 + self.layout.variables.len() * 8 + self.pairs.len();
        (self.entries.len() * (D::bytes(self.layout.n_dimensions()) + 2 * key + 200)) as u64
    }

    /// Adds states to a key.
    fn arrive(&mut self, points: IndexVec<ProcessId, PointId>, mut cell: Cell<D>, is_head: bool) {
        self.reset_dead(&points, &mut cell);
        let order = self.pairs.order(&cell.numbers);
        let key = Key { points, exact: cell.exact, order };
        let rank = key.points.iter().map(|&point| self.heads.rank[point]).sum();
        let Some(&id) = self.ids.get(&key) else {
            let id = self.entries.len();
            self.ids.insert(key.clone(), id);
            self.entries.push(Entry { key, numbers: cell.numbers, growth: 0 });
            self.todo.insert((rank, id));
            return;
        };
        let entry = &mut self.entries[id];
        if entry.numbers.includes(&cell.numbers) {
            return;
        }
        entry.growth += 1;
        match entry.growth {
            growth if growth >= MAX_GROWTH => entry.numbers = D::all(self.layout.n_dimensions()),
            growth if growth >= PATIENCE => entry.numbers.widen(&cell.numbers, &Thresholds::default()),
            growth if is_head && growth > DELAY => entry.numbers.widen(&cell.numbers, &self.thresholds),
            _ => entry.numbers.join(&cell.numbers),
        }
        self.todo.insert((rank, id));
    }

    /// Registers that are never read again are all the same.
    fn reset_dead(&self, points: &IndexVec<ProcessId, PointId>, cell: &mut Cell<D>) {
        for (process, &point) in points.iter_enumerated() {
            let n_registers = self.translated.program.processes()[process].registers.len();
            for register in (0..n_registers).map(RegisterId::from_usize) {
                if !self.facts.live.is_live(point, register) {
                    let variable = self.layout.register(process, register);
                    match self.layout.variables[variable].kind {
                        Kind::Exact => cell.exact[variable] = self.facts.live.resting(process, register),
                        Kind::Number(dimension) => cell.numbers.forget(dimension),
                    }
                }
            }
        }
    }

    /// The states that follow those of a key, and what goes wrong in it and on the way.
    fn successors(&self, id: usize, wrong: &mut Wrong) -> Vec<(EdgeId, IndexVec<ProcessId, PointId>, Cell<D>)> {
        let (program, Entry { key, numbers, .. }) = (&self.translated.program, &self.entries[id]);
        let cell = Cell { exact: key.exact.clone(), numbers: numbers.clone() };
        self.judge(key, &cell, wrong);
        let ahead = key.points.iter().copied().find(|&point| self.is_ahead[point]);
        let points: Vec<PointId> = ahead.map_or_else(|| key.points.iter().copied().collect(), |point| vec![point]);
        let mut out = Vec::new();
        for edge in points.iter().flat_map(|&point| &program.points()[point].edges) {
            let (process, op, to) = {
                let edge = &program.edges()[*edge];
                (edge.process, &edge.op, edge.to)
            };
            let evaluator = Evaluator { layout: self.layout, troubles: Vec::new() };
            let mut executor = Executor { program, process, evaluator };
            for after in executor.run(op, cell.clone()) {
                let mut points = key.points.clone();
                points[process] = to;
                out.push((*edge, points, after));
            }
            if let Some(&trouble) = executor.evaluator.troubles.first() {
                wrong
                    .alarm
                    .get_or_insert_with(|| Alarm::step(self.translated, self.layout, *edge, trouble, (key, &cell)));
            }
        }
        out
    }

    /// Which properties the states of a key may violate.
    fn judge(&self, key: &Key, cell: &Cell<D>, wrong: &mut Wrong) {
        for (id, property) in self.translated.program.properties().iter_enumerated() {
            for situation in &property.situations {
                if !key.points.iter_enumerated().all(|(process, &point)| situation.admits(process, Some(point))) {
                    continue;
                }
                let mut evaluator = Evaluator { layout: self.layout, troubles: Vec::new() };
                let place = |variable: &_| self.layout.state_variable(*variable);
                // A condition without a value does not hold, so troubles do not matter.
                if evaluator.split(cell.clone(), &situation.condition, &place).yes.is_empty() {
                    continue;
                }
                if self.translated.overflow == Some(id) {
                    wrong.overflows = true;
                } else {
                    let alarm = || Alarm::property(self.translated, self.layout, property, (key, cell));
                    wrong.alarm.get_or_insert_with(alarm);
                }
            }
        }
    }

    /// Looks at what was found, and at what follows from it as long as something seems to go wrong.
    fn descend(&mut self, points: &IndexVec<ProcessId, PointId>, starts: &[Cell<D>], monitor: &dyn Monitor) -> End {
        for descent in 0.. {
            let mut wrong = Wrong::default();
            let mut arrivals = Vec::new();
            for id in 0..self.entries.len() {
                if let Err(end) = self.poll(monitor) {
                    return end;
                }
                arrivals.extend(self.successors(id, &mut wrong));
            }
            let end = wrong.end();
            let is_last = descent == DESCENTS || self.layout.n_numbers == 0;
            if matches!(end, End::Safe) || is_last {
                return end;
            }
            self.entries.clear();
            self.ids.clear();
            starts.iter().for_each(|start| self.arrive_again(points.clone(), start.clone()));
            arrivals.into_iter().for_each(|(_, points, cell)| self.arrive_again(points, cell));
        }
        unreachable!("the loop returns")
    }

    /// Adds states to a key, without widening and without following them.
    fn arrive_again(&mut self, points: IndexVec<ProcessId, PointId>, mut cell: Cell<D>) {
        self.reset_dead(&points, &mut cell);
        let order = self.pairs.order(&cell.numbers);
        let key = Key { points, exact: cell.exact, order };
        match self.ids.get(&key) {
            Some(&id) => self.entries[id].numbers.join(&cell.numbers),
            None => {
                self.ids.insert(key.clone(), self.entries.len());
                self.entries.push(Entry { key, numbers: cell.numbers, growth: 0 });
            }
        }
    }
}

impl Wrong {
    fn end(self) -> End {
        match (self.alarm, self.overflows) {
            (Some(alarm), _) => End::Alarm(alarm),
            (None, true) => End::Overflow,
            (None, false) => End::Safe,
        }
    }
}
