//! What a few runs come by, taken at random and always the same: most points of most programs are reached by those.

use std::collections::BTreeSet;

use crate::engine::Task;
use crate::memory::{Job, Machine};
use crate::program::{Placement, PointId, Program};
use crate::system::{Outcome, System, starts};
use crate::watch::{Monitor, Progress, Stop};

/// So many runs that come by nothing new are enough.
const PATIENCE: u32 = 4;

/// A longer run starts anew.
const LENGTH: u32 = 256;

/// A process goes on for so many steps on average before others get their turn.
const TURN: usize = 8;

/// Takes away the points that some run comes by; stops as soon as none is left.
pub(super) fn stroll(task: &Task<'_>, open: &mut BTreeSet<PointId>, monitor: &dyn Monitor) -> Option<Stop> {
    let Task { program, placement, model, options } = *task;
    model.with(options.dialect, Stroll { program, placement, open, monitor })
}

struct Stroll<'a> {
    program: &'a Program,
    placement: &'a Placement,
    open: &'a mut BTreeSet<PointId>,
    monitor: &'a dyn Monitor,
}

impl Job for Stroll<'_> {
    type Output = Option<Stop>;

    fn run<M: Machine>(self, machine: M) -> Option<Stop> {
        let system = System::new(self.program, self.placement, machine);
        let first = starts(self.program).and_then(|mut it| it.next())?;
        let mut dice = Dice(1);
        let mut n_in_vain = 0;
        while n_in_vain < PATIENCE && !self.open.is_empty() {
            let n_open = self.open.len();
            let mut state = system.initial(&first);
            let mut last = None;
            for _ in 0..LENGTH {
                if let Some(stop) = self.monitor.poll(&Progress::default()) {
                    return Some(stop);
                }
                let mut nexts = system.steps(&state);
                if nexts.is_empty() {
                    break;
                }
                // One process goes on for a while: taking turns at random, few get far against the others.
                let own = nexts.iter().filter(|(step, _)| Some(step.process) == last).count();
                if own > 0 && dice.below(TURN) > 0 {
                    nexts.retain(|(step, _)| Some(step.process) == last);
                }
                let (step, next) = nexts.swap_remove(dice.below(nexts.len()));
                last = Some(step.process);
                // What ends in a fault ends the run.
                let Outcome::Next(next) = next else { break };
                if let Some(point) = next.controls[step.process].point() {
                    self.open.remove(&point);
                }
                state = next;
            }
            n_in_vain = if self.open.len() < n_open { 0 } else { n_in_vain + 1 };
        }
        None
    }
}

/// Numbers without a pattern that matters (Marsaglia's xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}
