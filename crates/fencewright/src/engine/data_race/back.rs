//! A run of the watched program that has seen a race, as one of the program: without the ghosts, and without the step
//! that saw it.
//!
//! A step has more ways in the watched program, which follow an access or do not. A way of a block is that of the
//! program that accesses the same and ends with the same.

use crate::program::{EdgeId, LocationId, Op, Program};
use crate::system::{Action, Block, Inside, Local, Run, Start, Step, Trace, run_block};
use crate::util::Idx;

/// A program, and what it is when it is watched.
#[derive(Clone, Copy)]
pub(super) struct Watched<'a> {
    pub program: &'a Program,
    pub watched: &'a Program,
    /// Which edge of the program one of the watched program is; none if it looks for a race.
    pub edge_of: &'a dyn Fn(EdgeId) -> Option<EdgeId>,
}

/// The run of the program.
pub(super) fn back(both: Watched<'_>, run: &Run) -> Trace {
    let Watched { program, edge_of, .. } = both;
    let action = |(i, step): (usize, &Step)| match step.action {
        Action::Edge { edge, choice } => {
            let own = edge_of(edge)?;
            Some(Action::Edge { edge: own, choice: way(both, run, i, (own, edge, choice)) })
        }
        Action::Fence(_) | Action::Internal(_) => Some(step.action),
    };
    let steps = run.trace.steps.iter().enumerate();
    let steps = steps.map_while(|(i, step)| Some(Step { action: action((i, step))?, ..*step })).collect();
    let start = &run.trace.start;
    let memory = start.memory.as_slice()[..program.locations().len()].to_vec();
    let registers = start.registers.iter_enumerated();
    let registers = registers.map(|(p, values)| values[..program.processes()[p].registers.len()].to_vec()).collect();
    Trace { start: Start { memory: memory.into(), registers }, steps, ..run.trace.clone() }
}

/// Which way of its own edge the i-th step takes, by an edge of the watched program and its way.
fn way(both: Watched<'_>, run: &Run, i: usize, (own, edge, choice): (EdgeId, EdgeId, u32)) -> u32 {
    let Watched { program, watched, .. } = both;
    let Op::Locked(body) = &watched.edges()[edge].op else { return choice };
    let Op::Locked(block) = &program.edges()[own].op else { return 0 };
    let before = i.checked_sub(1).map(|before| &run.events[before]);
    let registers = before.map_or(&run.trace.start.registers, |it| &it.registers);
    let memory = before.map_or(&run.trace.start.memory, |it| &it.memory);
    let registers = registers[program.edges()[own].process].clone();
    let sizes = (program.processes()[program.edges()[own].process].registers.len(), program.locations().len());
    let start = Recorded::new(Block { registers, contents: memory.as_slice().to_vec() });
    let without = start.clone().without_ghosts(sizes);
    let taken = run_block(&Local::new(watched, edge), body, start).into_iter().nth(choice as usize);
    let taken = taken.and_then(Result::ok).map(|it| it.without_ghosts(sizes));
    let ways = run_block(&Local::new(program, own), block, without);
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
