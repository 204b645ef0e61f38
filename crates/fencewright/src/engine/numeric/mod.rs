//! `numeric`: abstract interpretation of the program whose store buffers are variables.
//!
//! Dan, Meshman, Vechev, Yahav, _Effective Abstractions for Verification under Relaxed Memory Models_, VMCAI 2015. The
//! program is [translated](crate::translate) and looked at under SC ([`analysis`]): where processes are and variables
//! of few values, the flags of buffers among them, are kept exactly; of the others a numeric domain knows something
//! ([`crate::numeric::Domain`]).
//!
//! ```text
//!   program, fences, model ──translate──▶ program under SC ──layout──▶ exact │ numbers ──analysis──▶ safe, or alarm
//!                                                               a run, or unknown ◀──explicit──────────────────┘
//! ```
//!
//! `Safe` holds for all runs: what is described is never less than what can be reached, and no buffer needs more slots
//! than it has. An alarm shows nothing: a short search with `explicit` may find a run; otherwise the answer is
//! `unknown`, with what is known where the alarm is raised.
//!
//! Departures from the paper: its tool (ConcurInterproc) uses polyhedra and decision diagrams; here are intervals,
//! zones and octagons, and a table of keys. Integers are unbounded, and so is arithmetic.

mod ahead;
mod alarm;
mod analysis;
mod evaluate;
mod execute;
mod heads;
mod layout;

use crate::engine::explicit::Explicit;
use crate::engine::{Answer, Engine, Monitor, Reduction, Stats, StopReason, Task, Unsupported, Verdict};
use crate::numeric::{Domain, Intervals, Octagon, Zone};
use crate::translate::{Flushes, MAX_SLOTS, Overflow, Request, Translated, translate};

use analysis::{Analysis, End};
use layout::Layout;

/// The abstract interpreter.
#[derive(Clone, Copy, Debug)]
pub struct Numeric;

const NAME: &str = "numeric";

/// What is known of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Numbers {
    /// The range of each.
    Interval,
    /// Ranges, and bounds on differences.
    Zone,
    /// Ranges, and bounds on differences and sums of two.
    #[default]
    Octagon,
}

impl Numbers {
    /// All of them, from the weakest to the strongest.
    pub const ALL: [Self; 3] = [Self::Interval, Self::Zone, Self::Octagon];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interval => "interval",
            Self::Zone => "zone",
            Self::Octagon => "octagon",
        }
    }

    /// What it is, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Interval => "the range of each number",
            Self::Zone => "ranges, and bounds on differences of two",
            Self::Octagon => "ranges, and bounds on differences and sums of two",
        }
    }
}

impl Engine for Numeric {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "abstract interpretation of the program with its store buffers made explicit; proves, and finds no runs itself"
    }

    fn reductions(&self) -> &'static [Reduction] {
        &[]
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        let translated = translate(&Request {
            program: task.program,
            placement: task.placement,
            model: task.model,
            pso_rmw: task.options.dialect.pso_rmw,
            method: task.options.buffers,
            bound: task.options.buffer_bound.map(|bound| bound.clamp(1, MAX_SLOTS)),
            flushes: Flushes::WhereNoticed,
            overflow: Overflow::Violation,
        });
        let layout = Layout::new(&translated.program);
        let (end, stats) = match task.options.domain {
            Numbers::Interval => analyze::<Intervals>(&translated, &layout, monitor),
            Numbers::Zone => analyze::<Zone>(&translated, &layout, monitor),
            Numbers::Octagon => analyze::<Octagon>(&translated, &layout, monitor),
        };
        let verdict = match end {
            End::Safe => Verdict::Safe,
            End::Stopped(reason) => Verdict::Unknown(reason),
            End::Alarm(alarm) => confirmed(task, monitor, || StopReason::Unconfirmed(alarm.to_string())),
            End::Overflow => {
                let slots = translated.slots.iter().copied().max().unwrap_or(0);
                confirmed(task, monitor, || StopReason::Slots(slots))
            }
        };
        Ok(Answer { engine: NAME, verdict, stats })
    }
}

fn analyze<D: Domain>(translated: &Translated, layout: &Layout, monitor: &dyn Monitor) -> (End, Stats) {
    let mut analysis = Analysis::<D>::new(translated, layout);
    let end = analysis.run(monitor);
    (end, analysis.stats)
}

/// A run, if a short search finds one.
fn confirmed(task: &Task<'_>, monitor: &dyn Monitor, otherwise: impl FnOnce() -> StopReason) -> Verdict {
    match Explicit::GLANCE.check(task, monitor).map(|answer| answer.verdict) {
        Ok(Verdict::Unsafe(run)) => Verdict::Unsafe(run),
        Ok(Verdict::Unknown(reason @ (StopReason::Timeout | StopReason::Interrupted | StopReason::Defect(_)))) => {
            Verdict::Unknown(reason)
        }
        Ok(Verdict::Safe | Verdict::Unknown(_)) | Err(_) => Verdict::Unknown(otherwise()),
    }
}
