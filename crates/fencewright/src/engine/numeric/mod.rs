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
//! First each key has one description of numbers; if that is not enough, one for each order of them ([`order`]).
//!
//! `Safe` holds for all runs: what is described is never less than what can be reached, and no buffer needs more slots
//! than it has. An alarm shows nothing: a short search with `explicit` may find a run; otherwise the answer is
//! `unknown`, with what is known where the alarm is raised.
//!
//! Departures from the paper: its tool (ConcurInterproc) uses decision diagrams whose leaves are polyhedra; here is a
//! table of keys, whose descriptions are intervals, zones, octagons or polyhedra. Integers are unbounded, and so is
//! arithmetic.
//!
//! | file | idea |
//! |---|---|
//! | [`ahead`] | points from which a process may go on while all others wait |
//! | [`alarm`] | an alarm in words |
//! | [`analysis`] | the fixed point |
//! | [`evaluate`] | what an expression may be in a set of states, case by case |
//! | [`execute`] | what an operation does to a set of states, as `system::execute` has it for one state under SC |
//! | [`heads`] | where loops begin, and in which order control comes to points |
//! | [`layout`] | which variables are kept exactly, and which are numbers that a domain describes |
//! | [`order`] | which states of a key are described apart |

mod ahead;
mod alarm;
mod analysis;
mod evaluate;
mod execute;
mod heads;
mod layout;
mod order;

use crate::engine::observer::{is_observable, observed};
use crate::engine::{
    Answer, Card, Engine, Repairs, RestsOn, Setting, Stats, StopReason, Takes, Task, Unsupported, Verdict,
};
use crate::numeric::{Domain, Intervals, Octagon, Polyhedron, Zone};
use crate::translate::{Flushes, MAX_SLOTS, Method, Overflow, Repeats, Request, translate};
use crate::watch::{Monitor, Part};

use analysis::{Analysis, End, Question};
use layout::Layout;
use order::Apart;

/// The abstract interpreter.
#[derive(Clone, Copy)]
pub struct Numeric {
    /// Who looks for a run where there is an alarm, in little time.
    pub glance: &'static dyn Engine,
}

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
    /// All linear constraints.
    Polyhedra,
}

impl Numbers {
    /// All of them, from the weakest to the strongest.
    pub const ALL: [Self; 4] = [Self::Interval, Self::Zone, Self::Octagon, Self::Polyhedra];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interval => "interval",
            Self::Zone => "zone",
            Self::Octagon => "octagon",
            Self::Polyhedra => "polyhedra",
        }
    }

    /// What it is, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Interval => "the range of each number",
            Self::Zone => "ranges, and bounds on differences of two",
            Self::Octagon => "ranges, and bounds on differences and sums of two",
            Self::Polyhedra => "all linear constraints; slower by far",
        }
    }
}

/// How many slots a store buffer has.
pub const BOUND: Setting = Setting {
    flag: "bound",
    value_name: "N",
    about: "give store buffers so many slots",
    takes: Takes::Count(0, u32::MAX),
};

/// What is known of numbers.
pub const DOMAIN: Setting = Setting {
    flag: "domain",
    value_name: "DOMAIN",
    about: "what is known of numbers [default: octagon]",
    takes: Takes::OneOf(&[
        (Numbers::Interval.name(), Numbers::Interval.about()),
        (Numbers::Zone.name(), Numbers::Zone.about()),
        (Numbers::Octagon.name(), Numbers::Octagon.about()),
        (Numbers::Polyhedra.name(), Numbers::Polyhedra.about()),
    ]),
};

/// How store buffers are written down.
pub const BUFFERS: Setting = Setting {
    flag: "buffers",
    value_name: "HOW",
    about: "how store buffers are written down [default: robust]",
    takes: Takes::OneOf(&[
        (name_of(Method::Direct), Method::Direct.about()),
        (name_of(Method::Guided), Method::Guided.about()),
    ]),
};

static CARD: Card = Card {
    name: "numeric",
    about: "abstract interpretation of the program with its store buffers made explicit; \
            proves, and finds no runs itself",
    reductions: &[],
    settings: &[&BOUND, &DOMAIN, &BUFFERS],
    contradiction: |_| None,
    repairs: Repairs::ByPruning,
    rests_on: RestsOn::Grid,
    asks_others: false,
};

impl Engine for Numeric {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        task.is_closed()?;
        task.buffering()?;
        is_observable(task)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        monitor.begins(Part::Engine(self.name()));
        task.is_closed()?;
        observed(task, |task| self.analyzed(task, monitor))
    }
}

impl Numeric {
    fn analyzed(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        let translated = translate(&Request {
            program: task.program,
            placement: task.placement,
            buffering: task.buffering()?,
            method: task.options.choice(&BUFFERS, &Method::ALL, name_of),
            bound: task.options.count(&BOUND).map(|bound| bound.clamp(1, MAX_SLOTS)),
            flushes: Flushes::WhereNoticed,
            overflow: Overflow::Violation,
            repeats: Repeats::LeftOut,
        });
        let layout = Layout::new(&translated);
        let mut stats = Stats::default();
        let mut look = |apart: Apart| {
            let question = Question { translated: &translated, layout: &layout, apart };
            match task.options.choice(&DOMAIN, &Numbers::ALL, Numbers::name) {
                Numbers::Interval => analyze::<Intervals>(question, &mut stats, monitor),
                Numbers::Zone => analyze::<Zone>(question, &mut stats, monitor),
                Numbers::Octagon => analyze::<Octagon>(question, &mut stats, monitor),
                Numbers::Polyhedra => analyze::<Polyhedron>(question, &mut stats, monitor),
            }
        };
        let mut verdict = look(Apart::Nothing);
        if let Verdict::Unknown(StopReason::Unconfirmed(_) | StopReason::Slots(_)) = verdict {
            verdict = match self.glance(task, monitor) {
                Some(found) => found,
                // Without numbers there is nothing more to be told apart.
                None if layout.n_numbers == 0 => verdict,
                None => match look(Apart::Orders) {
                    // There was no end to it, so that what was seen before is all that is known.
                    Verdict::Unknown(StopReason::Diverged(_)) => verdict,
                    closer @ (Verdict::Safe | Verdict::Unsafe(_) | Verdict::Unknown(_)) => closer,
                },
            };
        }
        Ok(Answer { engine: CARD.name, verdict, stats })
    }
}

fn analyze<D: Domain>(question: Question<'_>, stats: &mut Stats, monitor: &dyn Monitor) -> Verdict {
    let slots = question.translated.slots.iter().copied().max().unwrap_or(0);
    let mut analysis = Analysis::<D>::new(question, *stats);
    let end = analysis.run(monitor);
    *stats = analysis.stats;
    match end {
        End::Safe => Verdict::Safe,
        End::Alarm(alarm) => Verdict::Unknown(StopReason::Unconfirmed(alarm.to_string())),
        End::Overflow => Verdict::Unknown(StopReason::Slots(slots)),
        End::Stopped(reason) => Verdict::Unknown(reason),
    }
}

/// Translations by the names that are used here: `robust` is the paper's word for `guided`.
pub const fn name_of(method: Method) -> &'static str {
    match method {
        Method::Direct => "direct",
        Method::Guided => "robust",
    }
}

impl Numeric {
    /// What a short search for a run says, if anything: a run, or that there is no more time for one.
    fn glance(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Option<Verdict> {
        match self.glance.check(task, monitor).ok()?.verdict {
            Verdict::Unsafe(run) => Some(Verdict::Unsafe(run)),
            Verdict::Unknown(reason @ (StopReason::Timeout | StopReason::Interrupted | StopReason::Defect(_))) => {
                Some(Verdict::Unknown(reason))
            }
            Verdict::Safe | Verdict::Unknown(_) => None,
        }
    }
}
