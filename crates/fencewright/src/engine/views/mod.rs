//! Is every execution that a language promises one of sequential consistency, and if not, does that hurt?
//!
//! Sequential consistency is searched once, with finite *views* beside memory: which old writes each thread could still
//! read under RC11, and which last writes it knows of in every sequential order. Where a thread knows of the last write
//! and an older one is open to it, RC11 has an execution more; where that never happens, it has none, so that the
//! verdict of sequential consistency holds, loops unbounded. The idea is that of Lahav and Margalit, _Robustness
//! against Release/Acquire Semantics_, PLDI 2019, and _Verifying Observational Robustness against a C11-Style Memory
//! Model_, POPL 2021; the rules here were derived anew and are not theirs to the letter (`docs/theory/rc11.md`).
//!
//! Exact, but for seq_cst accesses, whose order is followed once with less and once with more of it than there is. A
//! program that is not robust may still be correct: then old values are read, and no write below another one means that
//! all of RC11 is seen. What is bad there is `unsafe` once the axioms allow an execution graph of it.
//!
//! | file | idea |
//! |---|---|
//! | [`shape`] | what is kept for a program, and where |
//! | [`state`] | memory, and what threads know |
//! | [`rules`] | what steps do to that |
//! | [`watcher`] | sequential consistency, watched: a machine |
//! | [`confirm`] | the execution graph of an alarm |

mod confirm;
mod rules;
mod shape;
mod state;
mod watcher;

use crate::engine::automaton::{Automaton, LocalSteps, Merging};
use crate::engine::data_race::race_property;
use crate::engine::packed::{Badness, Budget, End, MachineStates, Sequential, Shared};
use crate::engine::robust::trace_property;
use crate::engine::{
    Answer, Card, Engine, Reduction, Repairs, RestsOn, Stats, StopReason, Task, Unsupported, Verdict, is_enumerable,
};
use crate::memory::{Machine, Rc11};
use crate::program::{EdgeId, FenceKind, Program, PropertyId, PropertyKind};
use crate::system::{Trace, Violation, replay};
use crate::watch::{Monitor, Part};

use confirm::{confirmed, last_weak};
use shape::{Psc, Shape};
use watcher::{Mode, Watcher};

/// Sequential consistency with views beside it.
#[derive(Clone, Copy, Debug)]
pub struct Views;

static CARD: Card = Card {
    name: "views",
    about: "sequential consistency with what each thread may still read beside it: for C11",
    reductions: &[Reduction::DEAD_REGISTERS, Reduction::LOCAL_STEPS],
    settings: &[],
    contradiction: |_| None,
    repairs: Repairs::ByRuns,
    rests_on: RestsOn::Other,
    asks_others: false,
};

impl Engine for Views {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        let machine = language(task)?;
        if let Some(reason) = machine.refuses(task.program) {
            let help = "ask for `safety`, `race` or `robust`, or under `sc`, `tso` or `pso`".to_owned();
            return Err(Unsupported { reason, help });
        }
        is_askable(task)?;
        is_enumerable(task.program)?;
        Shape::new(task.flow(), machine.sequence, Psc::Weaker).map(drop)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        monitor.begins(Part::Engine(self.name()));
        self.takes(task)?;
        let watched = watched(task.program);
        let task = Task { program: &watched.program, ..*task };
        let machine = language(&task)?;
        let mut asked = Asked { task: &task, machine, watched: &watched, monitor, stats: Stats::default() };
        let verdict = if watched.asks_trace { asked.robust()? } else { asked.safe()? };
        Ok(Answer { engine: self.name(), verdict, stats: asked.stats })
    }
}

fn language(task: &Task<'_>) -> Result<Rc11, Unsupported> {
    task.model.language().ok_or_else(|| Unsupported {
        reason: format!("this engine is for what a language promises, and {} is a machine", task.model),
        help: "use `--model rc11`, or `--engine auto`".to_owned(),
    })
}

/// Refuses what the views say nothing about.
fn is_askable(task: &Task<'_>) -> Result<(), Unsupported> {
    let refused = |reason: &str, help: &str| Err(Unsupported { reason: reason.to_owned(), help: help.to_owned() });
    if task.placement.iter().any(|(_, kind)| kind != FenceKind::Full) {
        return refused("C11 has no fence that is as weak as a store-store fence", "use full fences");
    }
    if task.program.has_unbounded_data() {
        return refused("views keep sets of values, and `int` has no end of them", "give it a finite range");
    }
    Ok(())
}

/// The program with all that is watched as properties.
struct Watched {
    program: Program,
    trace: PropertyId,
    race: PropertyId,
    asks_trace: bool,
    /// Whether a race is one of the properties that are asked about.
    asks_race: bool,
}

fn watched(program: &Program) -> Watched {
    let of = |kind: PropertyKind| program.properties().iter_enumerated().find(|it| it.1.kind == kind).map(|it| it.0);
    let (trace, race) = (of(PropertyKind::Trace), of(PropertyKind::Race));
    let more_race = race.is_none().then(race_property);
    let more_trace = trace.is_none().then(trace_property);
    let own = program.properties().iter().cloned();
    let with = program.with_properties(own.chain(more_race).chain(more_trace));
    let find = |kind: PropertyKind| {
        let mut all = with.properties().iter_enumerated();
        all.find(|it| it.1.kind == kind).map(|it| it.0).expect("it is there now")
    };
    let (found_trace, found_race) = (find(PropertyKind::Trace), find(PropertyKind::Race));
    Watched {
        trace: found_trace,
        race: found_race,
        asks_trace: trace.is_some(),
        asks_race: race.is_some(),
        program: with,
    }
}

/// One question being answered.
struct Asked<'a> {
    task: &'a Task<'a>,
    machine: Rc11,
    watched: &'a Watched,
    monitor: &'a dyn Monitor,
    stats: Stats,
}

/// What a search saw.
enum Seen {
    /// All there is, and nothing bad.
    Nothing,
    /// Something bad, which an execution graph shows.
    Bad(Trace),
    /// Something bad at the end of a way on which the last weak step is this one, without a graph that shows it.
    Unshown(Option<EdgeId>),
    /// A step that sequential consistency does not have, and an execution graph that shows it, if one was asked for and
    /// there is one.
    Weak(EdgeId, Option<Trace>),
    /// Neither.
    Stopped(StopReason),
}

impl Asked<'_> {
    /// Whether every execution is one of sequential consistency.
    fn robust(&mut self) -> Result<Verdict, Unsupported> {
        let first = match self.look(Mode::Robust, Psc::Weaker)? {
            Seen::Nothing => return Ok(Verdict::Safe),
            Seen::Weak(_, Some(trace)) => return Ok(self.shown(&trace)),
            Seen::Weak(edge, None) => edge,
            Seen::Stopped(reason) => return Ok(Verdict::Unknown(reason)),
            Seen::Bad(trace) => return Ok(self.interrupted(&trace)),
            Seen::Unshown(_) => return Ok(unconfirmed("an access to plain data that may race".to_owned())),
        };
        // Less order than seq_cst accesses have raised an alarm; what more order than they have leaves is real.
        match self.look(Mode::Robust, Psc::Stronger)? {
            Seen::Weak(_, Some(trace)) => Ok(self.shown(&trace)),
            Seen::Stopped(reason) => Ok(Verdict::Unknown(reason)),
            Seen::Nothing | Seen::Weak(..) | Seen::Bad(_) | Seen::Unshown(_) => {
                let line = self.line(first);
                Ok(unconfirmed(format!("whether the seq_cst accesses keep {line} in order is not decided")))
            }
        }
    }

    /// What keeps the question from being answered: the program goes wrong before.
    fn interrupted(&self, trace: &Trace) -> Verdict {
        unconfirmed(match trace.violation {
            Violation::Property(_) => "accesses to plain data race; ask for that first, with `--ask race`".to_owned(),
            Violation::Fault(fault) => format!("a run goes wrong before ({})", self.line(fault.edge())),
        })
    }

    /// Whether nothing bad is in any execution.
    fn safe(&mut self) -> Result<Verdict, Unsupported> {
        match self.look(Mode::Robust, Psc::Weaker)? {
            Seen::Nothing => return Ok(Verdict::Safe),
            Seen::Bad(trace) => return Ok(self.shown(&trace)),
            Seen::Stopped(reason) => return Ok(Verdict::Unknown(reason)),
            Seen::Weak(..) | Seen::Unshown(_) => {}
        }
        let racing = match self.look(Mode::WeakReads, Psc::Weaker)? {
            Seen::Nothing => return Ok(Verdict::Safe),
            Seen::Bad(trace) => return Ok(self.shown(&trace)),
            Seen::Stopped(reason) => return Ok(Verdict::Unknown(reason)),
            Seen::Unshown(edge) => {
                let line = edge.map_or("some line".to_owned(), |edge| self.line(edge));
                return Ok(unconfirmed(format!("an old value that {line} may read")));
            }
            Seen::Weak(edge, _) => edge,
        };
        match self.look(Mode::Hunting, Psc::Weaker)? {
            Seen::Bad(trace) => Ok(self.shown(&trace)),
            Seen::Stopped(reason) => Ok(Verdict::Unknown(reason)),
            Seen::Nothing | Seen::Unshown(_) | Seen::Weak(..) => {
                let line = self.line(racing);
                Ok(unconfirmed(format!("the answer hangs on the order of racing stores, of which one is in {line}")))
            }
        }
    }

    fn line(&self, edge: EdgeId) -> String {
        self.task.program.source().line_name(self.task.program.edges()[edge].span)
    }

    /// Searches all there is to see in a mode, or up to something bad.
    fn look(&mut self, mode: Mode, psc: Psc) -> Result<Seen, Unsupported> {
        let shape = Shape::new(self.task.flow(), self.machine.sequence, psc)?;
        let watcher = Watcher { shape: &shape, mode };
        let options = self.task.options;
        let merging = Merging {
            dead_registers: options.is_on(Reduction::DEAD_REGISTERS),
            local_steps: LocalSteps::if_on(options.is_on(Reduction::LOCAL_STEPS)),
            bisimilar: false,
        };
        let shared = Shared {
            automaton: Automaton::new(self.task, merging),
            component: MachineStates::new(&watcher, self.task.program),
            runs_ahead: false,
            swaps: Vec::new(),
        };
        let mut search = Sequential::new(&shared);
        let outcome = search.run(Budget::UNLIMITED, self.monitor);
        self.stats.explored += outcome.n_states;
        self.stats.kept = outcome.n_states;
        self.stats.bytes = self.stats.bytes.max(outcome.bytes);
        let violation = match outcome.end {
            End::Exhausted => return Ok(Seen::Nothing),
            End::Stopped(reason) => return Ok(Seen::Stopped(reason)),
            End::OverBudget => return Ok(Seen::Stopped(StopReason::States(outcome.n_states))),
            End::Bad(Badness::Overflow) => return Ok(Seen::Stopped(StopReason::Overflow)),
            End::Bad(Badness::Violation(violation)) => violation,
        };
        let path = search.path();
        let watched = (watcher, &shared.automaton);
        let weak = last_weak(self.task, watched, &path);
        // Where executions are asked about, what goes wrong after a weak step is not.
        let is_trace = violation == Violation::Property(self.watched.trace);
        if let (Some(edge), true) = (weak, is_trace || (self.watched.asks_trace && violation != self.race())) {
            let trace = Violation::Property(self.watched.trace);
            let shown = self.watched.asks_trace.then(|| confirmed(self.task, watched, &path, trace)).flatten();
            return Ok(Seen::Weak(edge, shown));
        }
        Ok(confirmed(self.task, watched, &path, violation).map_or(Seen::Unshown(weak), Seen::Bad))
    }

    fn race(&self) -> Violation {
        Violation::Property(self.watched.race)
    }

    /// The verdict of a trace, which is replayed.
    fn shown(&self, trace: &Trace) -> Verdict {
        if trace.violation == self.race() && !self.watched.asks_race {
            return unconfirmed("accesses to plain data race; ask for that, with `--ask race`".to_owned());
        }
        let Task { program, placement, model, options } = *self.task;
        match replay(program, placement, model, options.dialect, trace) {
            Ok(run) => Verdict::Unsafe(Box::new(run)),
            Err(error) => Verdict::Unknown(StopReason::Defect(error.to_string())),
        }
    }
}

fn unconfirmed(what: String) -> Verdict {
    Verdict::Unknown(StopReason::Unconfirmed(what))
}
