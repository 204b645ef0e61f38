//! The absence of races: in every sequentially consistent run, accesses to plain data are ordered by happens-before;
//! and under the model no two that conflict are about to happen at once.
//!
//! The first is a visit of all states under SC, each with who knows of which access ([`knowledge`]); the certificate
//! says how many there are. The second is a property of control, for which the rest of the certificate is the proof
//! ([`at_once`]). Both are made anew from the program; assertions are taken to hold, and what goes wrong otherwise is
//! refused.

mod at_once;
mod knowledge;

use std::collections::{HashSet, VecDeque};

use crate::memory::{Machine, Sc, ScMemory};
use crate::program::{EdgeId, LocationId, Op, Order, Placement, ProcessId, Program};
use crate::system::{Action, Block, Control, Effect, Inside, Local, Outcome, State, Stop, System, run_block, starts};
use crate::util::Idx;
use crate::watch::Monitor;

use super::exploration::{Size, bytes_of};
use super::live::Live;
use super::verify::{Failure, Steps};

use knowledge::{Act, Knowledge};

pub(super) use at_once::asked;

/// The number of states under SC, with who knows of which access to plain data. None is about to race.
///
/// # Errors
/// One is, or there are too many.
pub fn explore_ordered(program: &Program, monitor: &dyn Monitor) -> Result<u64, Failure> {
    visit(program, Size::UNKNOWN, &mut Steps::new(monitor))
}

/// Checks that there are so many states, and that no access in any of them races.
pub(super) fn check(program: &Program, n_states: u64, steps: &mut Steps<'_>) -> Result<(), Failure> {
    let size = Size::claimed(n_states);
    visit(program, size, steps).and_then(|found| size.is(found))
}

fn visit(program: &Program, size: Size, steps: &mut Steps<'_>) -> Result<u64, Failure> {
    if program.plain().is_empty() {
        return Ok(0);
    }
    let program = program.with_allocations().with_properties([]).with_assumed(&|_| true);
    let nothing_over = Placement::NONE;
    let visit = Visit { live: Live::new(&program), system: System::new(&program, &nothing_over, Sc) };
    visit.run(size, steps)
}

/// A state, and who knows what in it.
type Known = (State<ScMemory>, Knowledge);

struct Visit<'a> {
    system: System<'a, Sc>,
    live: Live,
}

impl Visit<'_> {
    fn run(&self, size: Size, steps: &mut Steps<'_>) -> Result<u64, Failure> {
        let program = self.system.flow.program;
        let Some(starts) = starts(program) else { return Failure::refused("a variable starts with any integer") };
        let mut seen: HashSet<Known> = HashSet::new();
        let mut todo = VecDeque::new();
        let mut bytes = 0;
        let mut note = |known: Known, todo: &mut VecDeque<Known>| {
            if seen.insert(known.clone()) {
                bytes += bytes_of(&self.system, &known.0) + known.1.bytes();
                todo.push_back(known);
            }
            size.admits(seen.len()).map(|()| (bytes, seen.len()))
        };
        let mut n_states = 0;
        for start in starts {
            let mut state = self.system.initial(&start);
            program.processes().indices().for_each(|p| self.forget_dead(&mut state, p));
            n_states = note((state, Knowledge::default()), &mut todo)?.1;
        }
        let mut n_bytes = 0;
        while let Some(known) = todo.pop_front() {
            steps.step(n_bytes)?;
            for next in self.steps(&known)? {
                (n_bytes, n_states) = note(next, &mut todo)?;
            }
        }
        Ok(n_states as u64)
    }

    fn steps(&self, known: &Known) -> Result<Vec<Known>, Failure> {
        let mut out = Vec::new();
        for transition in self.system.transitions(&known.0) {
            // Blocks have all their ways at once, below.
            if let (Action::Edge { edge, .. }, false) = (transition.step.action, transition.effect == Effect::Locked) {
                let knowledge = self.behind(edge, transition.effect, &known.1)?;
                match transition.outcome {
                    Outcome::Next(mut next) => {
                        self.forget_dead(&mut next, transition.step.process);
                        out.push((next, knowledge));
                    }
                    Outcome::Fault(_) => return Failure::refused("a step goes wrong"),
                    Outcome::Overflow => return Failure::refused("a value needs more than 64 bits"),
                }
            }
        }
        for p in self.system.flow.program.processes().indices() {
            self.blocks(known, p, &mut out)?;
        }
        Ok(out)
    }

    /// What is known behind an edge that is no block.
    fn behind(&self, edge: EdgeId, effect: Effect, before: &Knowledge) -> Result<Knowledge, Failure> {
        let program = self.system.flow.program;
        let it = &program.edges()[edge];
        let mut knowledge = before.clone();
        if let Some(order) = fence_order(&it.op, it.order) {
            knowledge.fence(it.process, order);
        }
        let (x, act) = match effect {
            Effect::Load(x, ..) => (x, Act::Read),
            Effect::Store(x, ..) => (x, Act::Write),
            Effect::Rmw(x, _, new) => (x, if new.is_some() { Act::Update } else { Act::Read }),
            Effect::Local | Effect::Fence(_) | Effect::Locked | Effect::Faulted => return Ok(knowledge),
            Effect::Arrived(..) | Effect::MarkerLeft => return Ok(knowledge),
        };
        match knowledge.accesses(program, it.process, x, act, it.order) {
            true => Ok(knowledge),
            false => Failure::refused(races(program, edge)),
        }
    }

    /// Every way through each block ahead of a process.
    fn blocks(&self, (state, knowledge): &Known, p: ProcessId, out: &mut Vec<Known>) -> Result<(), Failure> {
        let program = self.system.flow.program;
        let Some(point) = state.controls[p].point() else { return Ok(()) };
        for &edge in &program.points()[point].edges {
            let Op::Locked(body) = &program.edges()[edge].op else { continue };
            let Some(contents) = self.system.machine.lock(&state.memory, p) else { continue };
            let mut known = knowledge.clone();
            known.enters_block(p);
            let block = Block { registers: state.registers[p].clone(), contents };
            let inside = Watched { program, process: p, block, knowledge: known, is_ordered: true };
            for end in run_block(&Local::new(program, edge), body, inside) {
                let mut end = match end {
                    Ok(end) if end.is_ordered => end,
                    Ok(_) => return Failure::refused(races(program, edge)),
                    Err(Stop::Fault(_)) => return Failure::refused("a step goes wrong"),
                    Err(Stop::Overflow) => return Failure::refused("a value needs more than 64 bits"),
                };
                end.knowledge.leaves_block(p);
                let mut next = state.clone();
                next.controls[p] = Control::At(program.edges()[edge].to);
                next.registers[p] = end.block.registers;
                next.memory = self.system.machine.unlock(&state.memory, p, end.block.contents);
                self.forget_dead(&mut next, p);
                out.push((next, end.knowledge));
            }
        }
        Ok(())
    }

    fn forget_dead(&self, state: &mut State<ScMemory>, p: ProcessId) {
        for register in self.live.dead(p, state.controls[p]) {
            state.registers[p][register.index()] = 0;
        }
    }
}

/// The inside of a block, where each access is as if it had no order.
#[derive(Clone)]
struct Watched<'a> {
    program: &'a Program,
    process: ProcessId,
    block: Block,
    knowledge: Knowledge,
    is_ordered: bool,
}

impl Watched<'_> {
    fn accesses(&mut self, x: LocationId, act: Act) {
        self.is_ordered &= self.knowledge.accesses(self.program, self.process, x, act, Order::default());
    }
}

impl Inside for Watched<'_> {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn reads(&mut self, x: LocationId) {
        self.accesses(x, Act::Read);
    }

    fn writes(&mut self, x: LocationId) {
        self.accesses(x, Act::Write);
    }
}

/// The order of a fence of the language; none for what is no such fence.
fn fence_order(op: &Op, order: Order) -> Option<Order> {
    match (op, order) {
        (Op::Fence(_), Order::Acquire | Order::Release | Order::AcqRel | Order::SeqCst) => Some(order),
        // An acquire fence of the mapping costs nothing.
        (Op::Assume(_), Order::Acquire) => Some(order),
        _ => None,
    }
}

fn races(program: &Program, edge: EdgeId) -> String {
    let line = program.source().line_name(program.edges()[edge].span);
    format!("under SC an access of {line} may race")
}
