//! A run of the watched program that has seen a race, as one of the program: without the ghosts, and without the step
//! that saw it.
//!
//! A step has more ways in the watched program, which follow an access or do not. A way of a block is that of the
//! program that accesses the same and ends with the same.

use crate::program::{EdgeId, LocationId, Op, Program};
use crate::system::{Action, Block, Inside, Local, Run, Start, Step, Trace, run_block};
use crate::util::Idx;

/// The run of the program.
pub(super) fn back(program: &Program, watched: &Program, run: &Run) -> Trace {
    let is_look = |step: &Step| match step.action {
        Action::Edge { edge, .. } => edge.index() >= program.edges().len(),
        Action::Fence(_) | Action::Internal(_) => false,
    };
    let mut steps = Vec::new();
    for (i, &step) in run.trace.steps.iter().enumerate().take_while(|(_, step)| !is_look(step)) {
        let action = match step.action {
            Action::Edge { edge, choice } => {
                Action::Edge { edge, choice: way(program, watched, run, (i, edge, choice)) }
            }
            Action::Fence(_) | Action::Internal(_) => step.action,
        };
        steps.push(Step { action, ..step });
    }
    let start = &run.trace.start;
    let memory = start.memory.as_slice()[..program.locations().len()].to_vec();
    let registers = start.registers.iter_enumerated();
    let registers = registers.map(|(p, values)| values[..program.processes()[p].registers.len()].to_vec()).collect();
    Trace { start: Start { memory: memory.into(), registers }, steps, ..run.trace.clone() }
}

/// Which way of the program a step takes: the i-th, of an edge, by a way of the watched program.
fn way(program: &Program, watched: &Program, run: &Run, (i, edge, choice): (usize, EdgeId, u32)) -> u32 {
    let Op::Locked(body) = &watched.edges()[edge].op else { return choice };
    let Op::Locked(own) = &program.edges()[edge].op else { return 0 };
    let before = i.checked_sub(1).map(|before| &run.events[before]);
    let registers = before.map_or(&run.trace.start.registers, |it| &it.registers);
    let memory = before.map_or(&run.trace.start.memory, |it| &it.memory);
    let registers = registers[program.edges()[edge].process].clone();
    let sizes = (program.processes()[program.edges()[edge].process].registers.len(), program.locations().len());
    let start = Recorded::new(Block { registers, contents: memory.as_slice().to_vec() });
    let without = start.clone().without_ghosts(sizes);
    let taken = run_block(&Local::new(watched, edge), body, start).into_iter().nth(choice as usize);
    let taken = taken.and_then(Result::ok).map(|it| it.without_ghosts(sizes));
    let ways = run_block(&Local::new(program, edge), own, without);
    let same = ways.into_iter().position(|it| it.ok() == taken && taken.is_some());
    same.and_then(|it| u32::try_from(it).ok()).unwrap_or(choice)
}

/// The inside of a block, and what it accesses in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Recorded {
    block: Block,
    /// What is accessed, and whether it is written.
    accesses: Vec<(LocationId, bool)>,
}

impl Recorded {
    fn new(block: Block) -> Self {
        Self { block, accesses: Vec::new() }
    }

    /// The same with so many registers and locations.
    fn without_ghosts(mut self, (n_registers, n_locations): (usize, usize)) -> Self {
        self.block.registers.truncate(n_registers);
        self.block.contents.truncate(n_locations);
        self.accesses.retain(|it| it.0.index() < n_locations);
        self
    }
}

impl Inside for Recorded {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn reads(&mut self, x: LocationId) {
        self.accesses.push((x, false));
    }

    fn writes(&mut self, x: LocationId) {
        self.accesses.push((x, true));
    }
}
