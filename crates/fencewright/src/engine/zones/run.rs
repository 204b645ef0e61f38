//! From rules over zones to a run of the store buffers: the rules are taken on concrete integers, sorted by time,
//! walked.
//!
//! The first constraint holds an initial configuration; integers are picked for it. Each rule then leads from concrete
//! values to concrete values, and where a havoc leaves a choice, the zone of the next constraint says what to pick. The
//! concrete buffers may hold more than the constraint speaks of; which message each of its letters is, is kept in mind.
//! Times are those of the load-buffer engine: a step happens when the oldest message of its process was pushed, a store
//! leaves its buffer when it reaches memory.

use std::collections::VecDeque;

use crate::engine::StopReason;
use crate::engine::symbolic::difference::Sum;
use crate::engine::symbolic::effect::Var;
use crate::engine::symbolic::flow::{Act, Step};
use crate::engine::symbolic::walk::{Happening, What};
use crate::engine::zones::constraint::Constraint;
use crate::engine::zones::system::{Rule, RuleKind, Zones};
use crate::numeric::{Bound, Term};
use crate::program::{LocationId, ProcessId, Value};
use crate::system::Start;
use crate::util::{Idx, IndexVec};

/// The start of the run that rules lead through, and what happens in it, in order.
pub(super) fn concrete(
    zones: &Zones<'_>,
    first: &Constraint,
    path: &[(Rule, &Constraint)],
) -> Result<(Start, Vec<Happening>), StopReason> {
    let mut machine = Machine::new(zones, first)?;
    let start = Start { memory: machine.memory.clone(), registers: machine.registers.clone() };
    for (i, (rule, after)) in path.iter().enumerate() {
        machine.take(i + 1, *rule, after)?;
    }
    machine.happenings.sort_by_key(|it| it.0);
    Ok((start, machine.happenings.into_iter().map(|it| it.1).collect()))
}

/// A message or pending store.
#[derive(Clone, Copy, Debug)]
struct Letter {
    /// No two have the same.
    id: usize,
    is_own: bool,
    location: LocationId,
    value: Value,
    pushed: usize,
}

/// The load-buffer machine on concrete integers.
struct Machine<'a> {
    zones: &'a Zones<'a>,
    memory: IndexVec<LocationId, Value>,
    registers: IndexVec<ProcessId, Vec<Value>>,
    /// Oldest first.
    buffers: IndexVec<ProcessId, VecDeque<Letter>>,
    /// Of all locations, oldest first.
    stages: IndexVec<ProcessId, VecDeque<Letter>>,
    /// The letters that the constraint speaks of.
    spoken: IndexVec<ProcessId, Vec<Letter>>,
    /// What happens, and when: the time, what comes first at that time, then the order in which it was found.
    happenings: Vec<((usize, u8, usize), Happening)>,
    n_letters: usize,
}

impl<'a> Machine<'a> {
    fn new(zones: &'a Zones<'a>, first: &Constraint) -> Result<Self, StopReason> {
        let mut zone = first.zone.clone();
        let is_initial = zone.meet(zones.initial, |i| i);
        let values = zone.valuation(&vec![None; zone.n_variables()]).filter(|_| is_initial);
        let values = values.ok_or(StopReason::Overflow)?;
        let memory = zones.program.locations().indices().map(|x| values[zones.layout.location(x)]);
        let registers = zones.program.processes().iter_enumerated().map(|(process, it)| {
            it.registers.indices().map(|register| values[zones.layout.register(process, register)]).collect()
        });
        let n = zones.flows.len();
        Ok(Self {
            zones,
            memory: memory.collect(),
            registers: registers.collect(),
            buffers: IndexVec::filled(n, VecDeque::new()),
            stages: IndexVec::filled(n, VecDeque::new()),
            spoken: IndexVec::filled(n, Vec::new()),
            happenings: Vec::new(),
            n_letters: 0,
        })
    }

    fn take(&mut self, now: usize, rule: Rule, after: &Constraint) -> Result<(), StopReason> {
        let process = rule.process;
        let buffers = &after.buffers[process.index()];
        let act = |id: u32| self.zones.flows[process].steps[id as usize].act;
        match rule.kind {
            RuleKind::Propagate(x) => {
                let sample = self.push(now, process, (x, self.memory[x]), false);
                self.spoken[process].insert(buffers.messages.len() - 1, sample);
            }
            RuleKind::Delete => {
                let oldest = self.spoken[process].remove(0);
                while self.buffers[process].pop_front().is_some_and(|it| it.id != oldest.id) {}
            }
            RuleKind::Pass(id) => self.step(now, (process, id), (None, Stored::Nowhere), after)?,
            RuleKind::ReadOwn(id) => {
                let Act::Load(x) = act(id) else { return Err(mismatch()) };
                let found = self.own(process, x).ok_or_else(mismatch)?;
                self.step(now, (process, id), (Some(found), Stored::Nowhere), after)?;
            }
            RuleKind::ReadHead { step, is_last_use } => {
                let head = self.head(process, is_last_use)?;
                self.step(now, (process, step), (Some(head.value), Stored::Nowhere), after)?;
            }
            RuleKind::Drained(id) => {
                self.buffers[process].clear();
                let found = match act(id) {
                    Act::Load(x) => Some(self.memory[x]),
                    Act::Local | Act::Store(..) | Act::Fence(_) | Act::Atomic(_) => None,
                };
                self.step(now, (process, id), (found, Stored::InMemory), after)?;
            }
            RuleKind::Write { step, shadowed } => {
                shadowed.map(|at| self.spoken[process].remove(at as usize));
                let stored = Stored::Pushed(buffers.messages.len() - 1);
                self.step(now, (process, step), (None, stored), after)?;
            }
            RuleKind::Store { step, shadowed } => {
                shadowed.map(|at| self.spoken[process].remove(at as usize));
                self.step(now, (process, step), (None, Stored::Staged), after)?;
            }
            RuleKind::Serialize { location, letter, pushed } => {
                self.serialize((now, process), location, (letter, pushed), after)?;
            }
        }
        Ok(())
    }

    /// The oldest message that the constraint speaks of; what is older goes.
    fn head(&mut self, process: ProcessId, is_last_use: bool) -> Result<Letter, StopReason> {
        let head = *self.spoken[process].first().ok_or_else(mismatch)?;
        while self.buffers[process].front().is_some_and(|it| it.id != head.id) {
            self.buffers[process].pop_front();
        }
        if is_last_use {
            self.spoken[process].remove(0);
        }
        Ok(head)
    }

    /// A step of the flow, which finds this and stores there.
    fn step(
        &mut self,
        now: usize,
        (process, id): (ProcessId, u32),
        (found, stored): (Option<Value>, Stored),
        after: &Constraint,
    ) -> Result<(), StopReason> {
        let flow = &self.zones.flows[process];
        let step = &flow.steps[id as usize];
        let view = self.buffers[process].front().map_or(now, |oldest| oldest.pushed);
        let before = Values { memory: self.memory.clone(), registers: self.registers[process].clone(), found };
        if let Act::Store(x, sum) = step.act {
            let value = before.term(sum)?.plus;
            self.store((now, process), (x, value), stored, after)?;
        }
        let picks = self.pick(process, step, &before, after)?;
        let value = |sum: Sum<Var>| {
            let term = before.term(sum)?;
            let pick = term.base.checked_sub(1).map_or(0, |i| picks[i]);
            pick.checked_add(term.plus).ok_or(StopReason::Overflow)
        };
        for (register, &sum) in &step.effect.registers {
            self.registers[process][register.index()] = value(sum)?;
        }
        for (&x, &sum) in &step.effect.memory {
            self.memory[x] = value(sum)?;
        }
        let registers = (step.to != flow.fault()).then(|| self.registers[process].clone());
        let what = What::Moves { moves: step.moves.clone(), picks, registers };
        self.happenings.push(((view, 0, now), Happening { process, what }));
        Ok(())
    }

    /// What havocs pick so that the step leads to the constraint.
    fn pick(
        &self,
        process: ProcessId,
        step: &Step,
        before: &Values,
        after: &Constraint,
    ) -> Result<Vec<Value>, StopReason> {
        let layout = self.zones.layout;
        let mut terms: Vec<Term> = [0].into_iter().chain(self.memory.iter().copied()).map(Term::constant).collect();
        terms.extend(self.registers.iter().flatten().copied().map(Term::constant));
        terms.extend(self.spoken.iter().flatten().map(|letter| Term::constant(letter.value)));
        for (&register, &sum) in &step.effect.registers {
            terms[layout.register(process, register)] = before.term(sum)?;
        }
        for (&x, &sum) in &step.effect.memory {
            terms[layout.location(x)] = before.term(sum)?;
        }
        let n_picks = step.effect.picks.len();
        if terms.len() != after.zone.n_variables() {
            return Err(mismatch());
        }
        let mut zone = after.zone.before(1 + n_picks, &terms).ok_or_else(mismatch)?;
        for (i, &(lo, hi)) in step.effect.picks.iter().enumerate() {
            let below = Bound::ZERO.shifted(-i128::from(lo));
            if !zone.add(1 + i, 0, Bound::at_most(hi)) || !zone.add(0, 1 + i, below) {
                return Err(mismatch());
            }
        }
        for guard in &step.effect.when.differences {
            let side = |it: Option<Var>| before.term(Sum { var: it, plus: 0 });
            if !zone.add_difference(side(guard.left)?, side(guard.right)?, guard.bound) {
                return Err(mismatch());
            }
        }
        for it in &step.effect.when.remainders {
            let Term { base, plus } = before.term(Sum::var(it.variable))?;
            let remainder = (it.remainder - plus.rem_euclid(it.modulus)).rem_euclid(it.modulus);
            if !zone.add_remainder(base, it.modulus, remainder) {
                return Err(mismatch());
            }
        }
        let values = zone.valuation(&vec![None; 1 + n_picks]).ok_or(StopReason::Overflow)?;
        Ok(values[1..].to_vec())
    }

    fn store(
        &mut self,
        (now, process): (usize, ProcessId),
        (x, value): (LocationId, Value),
        stored: Stored,
        after: &Constraint,
    ) -> Result<(), StopReason> {
        match stored {
            Stored::Nowhere => return Err(mismatch()),
            Stored::InMemory => self.write(now, process, (x, value)),
            Stored::Pushed(at) => {
                self.write(now, process, (x, value));
                let own = self.push(now, process, (x, value), true);
                self.spoken[process].insert(at, own);
            }
            Stored::Staged => {
                let letter = self.letter(now, (x, value), true);
                self.stages[process].push_back(letter);
                let at = after.buffers[process.index()].newest_pending(x).ok_or_else(mismatch)?;
                self.spoken[process].insert(at, letter);
            }
        }
        Ok(())
    }

    /// Stores leave the stage: those that the constraint does not speak of, then the one that the rule is about.
    fn serialize(
        &mut self,
        (now, process): (usize, ProcessId),
        x: LocationId,
        (letter, pushed): (u32, Option<Option<u32>>),
        after: &Constraint,
    ) -> Result<(), StopReason> {
        if pushed.is_none() {
            self.buffers[process].clear();
        }
        let last = self.spoken[process].remove(letter as usize);
        loop {
            let at = self.stages[process].iter().position(|it| it.location == x).ok_or_else(mismatch)?;
            let store = self.stages[process].remove(at).ok_or_else(mismatch)?;
            self.write(now, process, (x, store.value));
            let own = pushed.map(|_| self.push(now, process, (x, store.value), true));
            if store.id != last.id {
                continue;
            }
            if let (Some(shadowed), Some(own)) = (pushed, own) {
                shadowed.map(|at| self.spoken[process].remove(at as usize));
                self.spoken[process].insert(after.buffers[process.index()].messages.len() - 1, own);
            }
            return Ok(());
        }
    }

    /// A store reaches memory.
    fn write(&mut self, now: usize, process: ProcessId, (x, value): (LocationId, Value)) {
        self.memory[x] = value;
        if self.zones.machine.lags {
            let time = (now, 1, self.happenings.len());
            self.happenings.push((time, Happening { process, what: What::Arrives(x) }));
        }
    }

    fn push(&mut self, now: usize, process: ProcessId, content: (LocationId, Value), is_own: bool) -> Letter {
        let letter = self.letter(now, content, is_own);
        self.buffers[process].push_back(letter);
        letter
    }

    fn letter(&mut self, now: usize, (location, value): (LocationId, Value), is_own: bool) -> Letter {
        self.n_letters += 1;
        Letter { id: self.n_letters, is_own, location, value, pushed: now }
    }

    /// The process's newest store to a location that it still sees.
    fn own(&self, process: ProcessId, x: LocationId) -> Option<Value> {
        let newest = |letters: &VecDeque<Letter>| {
            letters.iter().rev().find(|it| it.is_own && it.location == x).map(|it| it.value)
        };
        newest(&self.stages[process]).or_else(|| newest(&self.buffers[process]))
    }
}

/// Where a store goes.
#[derive(Clone, Copy)]
enum Stored {
    /// The step is none, or it is one that does not come there.
    Nowhere,
    /// To memory.
    InMemory,
    /// To memory and, as this letter of the constraint, to the load buffer.
    Pushed(usize),
    /// To the stage.
    Staged,
}

/// What a step starts from.
struct Values {
    memory: IndexVec<LocationId, Value>,
    registers: Vec<Value>,
    found: Option<Value>,
}

impl Values {
    /// A sum of the step's variables, where variable `1 + i` is what its havoc `i` picks.
    fn term(&self, sum: Sum<Var>) -> Result<Term, StopReason> {
        let value = match sum.var {
            None => 0,
            Some(Var::Register(register)) => self.registers[register.index()],
            Some(Var::Memory(x)) => self.memory[x],
            Some(Var::Loaded) => self.found.ok_or_else(mismatch)?,
            Some(Var::Picked(i)) => return Ok(Term { base: 1 + i, plus: sum.plus }),
        };
        value.checked_add(sum.plus).map(Term::constant).ok_or(StopReason::Overflow)
    }
}

/// The rules do not fit together: so it is with what was found by widening.
fn mismatch() -> StopReason {
    StopReason::Defect("the rules of `zones` do not lead from one constraint to the next".to_owned())
}
