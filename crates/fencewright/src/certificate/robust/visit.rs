//! All states of sequential consistency, with an attack under way or none.
//!
//! The steps are those of [`System`] under SC. The attacker sees memory with its own delayed stores laid over it. Two
//! things are left out, as with store buffers of which less is kept: registers that no longer matter hold 0
//! ([`live`](crate::certificate::live)), and while a process has only local steps ahead, the others wait for it
//! ([`urgent`](crate::certificate::urgent)): an attack does not see those, and who attacks does them before others
//! join.

use std::collections::{HashSet, VecDeque};

use crate::certificate::exploration::{Size, bytes_of};
use crate::certificate::live::Live;
use crate::certificate::urgent::Urgent;
use crate::certificate::verify::{Failure, Steps};
use crate::memory::{Buffering, Sc, ScMemory};
use crate::program::{EdgeId, FenceKind, LocationId, Op, Placement, ProcessId, Program, Value};
use crate::system::{
    Action, Block, Effect, Flow, Local, Outcome, State, Step, Stop, System, Touched, Transition, run_block, starts,
};
use crate::util::Idx;

use super::attack::Attack;
use super::delays;

/// The number of states; none is one in which an attack succeeds.
pub(super) fn run(
    program: &Program,
    placement: &Placement,
    buffering: Buffering,
    size: Size,
    steps: &mut Steps<'_>,
) -> Result<u64, Failure> {
    // Nobody delays anything, and there is nothing to look at.
    if !delays(buffering) {
        return Ok(0);
    }
    let flow = Flow { program, placement };
    let system = System { flow, machine: Sc };
    let visit = Visit { system, buffering, urgent: Urgent::new(flow), live: Live::new(program) };
    visit.run(size, steps)
}

/// A state, and the attack that is under way.
type Attacked = (State<ScMemory>, Option<Attack>);

struct Visit<'a> {
    system: System<'a, Sc>,
    buffering: Buffering,
    urgent: Urgent,
    live: Live,
}

impl Visit<'_> {
    fn run(&self, size: Size, steps: &mut Steps<'_>) -> Result<u64, Failure> {
        let program = self.system.flow.program;
        let Some(starts) = starts(program) else { return Failure::refused("a variable starts with any integer") };
        let mut seen: HashSet<Attacked> = HashSet::new();
        let mut todo = VecDeque::new();
        let mut bytes = 0;
        for start in starts {
            let mut state = self.system.initial(&start);
            program.processes().indices().for_each(|p| self.forget_dead(&mut state, p));
            if seen.insert((state.clone(), None)) {
                bytes += bytes_of(&self.system, &state);
                todo.push_back((state, None));
            }
            steps.step(bytes)?;
            size.admits(seen.len())?;
        }
        while let Some(attacked) = todo.pop_front() {
            steps.step(bytes)?;
            for next in self.steps(&attacked)? {
                if next.1.as_ref().is_some_and(Attack::succeeds) {
                    return Failure::refused("a store can be delayed until that shows");
                }
                if !seen.contains(&next) {
                    bytes += 2 * bytes_of(&self.system, &next.0);
                    seen.insert(next.clone());
                    todo.push_back(next);
                    size.admits(seen.len())?;
                }
            }
        }
        Ok(seen.len() as u64)
    }

    fn steps(&self, (state, attack): &Attacked) -> Result<Vec<Attacked>, Failure> {
        let mut all = self.system.transitions(state);
        let is_urgent = |p: ProcessId| {
            self.urgent.is_at(p, state.controls[p]) && all.iter().any(|transition| transition.step.process == p)
        };
        if let Some(only) = state.controls.indices().find(|&p| is_urgent(p)) {
            all.retain(|transition| transition.step.process == only);
        }
        let mut out = Vec::new();
        if let Some(attack) = attack {
            let attackers = all.iter().any(|it| it.step.process == attack.attacker);
            all.retain(|it| it.step.process != attack.attacker);
            if attackers && !attack.is_over_for_attacker(self.buffering) {
                self.attackers(state, attack, &mut out)?;
            }
        }
        for transition in all {
            self.others(state, attack.as_ref(), transition, &mut out)?;
        }
        Ok(out)
    }

    /// What the attacker can do.
    fn attackers(&self, state: &State<ScMemory>, attack: &Attack, out: &mut Vec<Attacked>) -> Result<(), Failure> {
        let mut view = state.clone();
        attack.delayed.iter().for_each(|(x, value)| view.memory[x.index()] = *value);
        for transition in self.system.transitions(&view).into_iter().filter(|it| it.step.process == attack.attacker) {
            if !self.is_open_to_attacker(state, attack, transition.step) {
                continue;
            }
            let next = landed(transition.outcome)?;
            let mut note = |written: &[(LocationId, Value)], attack: Attack| {
                let mut memory = state.memory.clone();
                written.iter().for_each(|(x, value)| memory[x.index()] = *value);
                out.push((self.behind(attack.attacker, next.clone(), memory), Some(attack)));
            };
            match transition.effect {
                Effect::Local => note(&[], attack.clone()),
                Effect::Fence(FenceKind::Full) => {}
                Effect::Fence(FenceKind::StoreStore) => note(&[], attack.passes_store_fence()),
                Effect::Load(x, ..) if attack.delayed.contains_key(&x) => note(&[], attack.clone()),
                Effect::Load(x, ..) | Effect::Rmw(x, _, None) => note(&[], attack.goes_on(&[x], &[])),
                Effect::Store(x, value, _) => {
                    note(&[], attack.delays(x, value));
                    if attack.may_overtake(self.buffering, x) {
                        note(&[(x, value)], attack.goes_on(&[], &[x]));
                    }
                }
                Effect::Rmw(x, _, Some(new)) => note(&[(x, new)], attack.goes_on(&[x], &[x])),
                Effect::Locked | Effect::Arrived(..) | Effect::MarkerLeft | Effect::Faulted => {
                    return Failure::refused("a step that sequential consistency does not have");
                }
            }
        }
        Ok(())
    }

    /// Whether the attacker need not wait for its delayed stores before a step.
    fn is_open_to_attacker(&self, state: &State<ScMemory>, attack: &Attack, step: Step) -> bool {
        let Action::Edge { edge, .. } = step.action else { return true };
        let local = Local::new(self.system.flow.program, edge);
        match &local.edge.op {
            Op::Rmw { place, .. } => match local.resolve(place, &state.registers[step.process]) {
                Ok(x) => attack.may_update(self.buffering, x),
                // It goes wrong, whatever it waits for.
                Err(_) => true,
            },
            Op::Locked(_) => false,
            Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => true,
            Op::Load(..) | Op::Store(..) | Op::Fence(_) => true,
        }
    }

    /// What a process does that delays nothing yet, or helps.
    fn others(
        &self,
        state: &State<ScMemory>,
        attack: Option<&Attack>,
        transition: Transition<ScMemory>,
        out: &mut Vec<Attacked>,
    ) -> Result<(), Failure> {
        let (p, action) = (transition.step.process, transition.step.action);
        let next = landed(transition.outcome)?;
        let joined = |reads: &[LocationId], writes: &[LocationId]| match attack {
            Some(attack) => attack.joined_by(p, reads, writes).map(Some),
            None => Some(None),
        };
        let after = match transition.effect {
            Effect::Local | Effect::Fence(_) => Some(attack.cloned()),
            Effect::Load(x, ..) | Effect::Rmw(x, _, None) => joined(&[x], &[]),
            Effect::Rmw(x, _, Some(_)) => joined(&[x], &[x]),
            Effect::Store(x, value, _) => {
                if attack.is_none() {
                    let delayed = self.behind(p, next.clone(), state.memory.clone());
                    out.push((delayed, Some(Attack::begins(p, x, value))));
                }
                joined(&[], &[x])
            }
            Effect::Locked => {
                let Action::Edge { edge, choice } = action else { return Failure::refused("a block is no fence") };
                match self.touched(state, edge, choice as usize)? {
                    (reads, writes) if reads.is_empty() && writes.is_empty() => Some(attack.cloned()),
                    (reads, writes) => joined(&reads, &writes),
                }
            }
            Effect::Arrived(..) | Effect::MarkerLeft | Effect::Faulted => {
                return Failure::refused("a step that sequential consistency does not have");
            }
        };
        if let Some(after) = after {
            let memory = next.memory.clone();
            out.push((self.behind(p, next, memory), after));
        }
        Ok(())
    }

    /// What one way through a block reads before it writes it, and what it writes.
    fn touched(
        &self,
        state: &State<ScMemory>,
        edge: EdgeId,
        way: usize,
    ) -> Result<(Vec<LocationId>, Vec<LocationId>), Failure> {
        let local = Local::new(self.system.flow.program, edge);
        let Op::Locked(body) = &local.edge.op else { return Failure::refused("a block is none") };
        let registers = state.registers[local.edge.process].clone();
        let start = Touched::from(Block { registers, contents: state.memory.clone() });
        match run_block(&local, body, start).into_iter().nth(way) {
            Some(Ok(end)) => Ok((end.read.into_iter().collect(), end.written.into_iter().collect())),
            Some(Err(Stop::Fault(_))) => Failure::refused("a step goes wrong"),
            Some(Err(Stop::Overflow)) | None => Failure::refused("a value needs more than 64 bits"),
        }
    }

    /// The state behind a step, of a process: its control and registers, with this memory.
    fn behind(&self, p: ProcessId, mut next: State<ScMemory>, memory: ScMemory) -> State<ScMemory> {
        next.memory = memory;
        self.forget_dead(&mut next, p);
        next
    }

    fn forget_dead(&self, state: &mut State<ScMemory>, p: ProcessId) {
        for register in self.live.dead(p, state.controls[p]) {
            state.registers[p][register.index()] = 0;
        }
    }
}

fn landed(outcome: Outcome<State<ScMemory>>) -> Result<State<ScMemory>, Failure> {
    match outcome {
        Outcome::Next(next) => Ok(next),
        Outcome::Fault(_) => Failure::refused("a step goes wrong"),
        Outcome::Overflow => Failure::refused("a value needs more than 64 bits"),
    }
}
