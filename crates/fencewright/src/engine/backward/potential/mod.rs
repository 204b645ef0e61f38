//! The engine for release/acquire: exact for finite data under SRA, messages and loops unbounded.
//!
//! Reachability under strong release/acquire is decidable (Lahav and Boker, _Decidable verification under a causally
//! consistent shared memory_, PLDI 2020; _What's decidable about causally consistent shared memory?_, TOPLAS 2022). The
//! search is after their idea of *potentials*: instead of messages and views, which grow without end, a state has for
//! each thread the lists of messages that it could read one after the other if nobody wrote any more. The rules here
//! were derived anew and are not theirs to the letter (`docs/theory/potentials.md`). Backward, it is enough to ask for
//! a few lists, and subwords are a well-quasi-order, so the search ends. A violation is turned into a run of messages
//! and views and replayed.
//!
//! Release/acquire itself is undecidable. It lies between strong release/acquire, from which it differs only if stores
//! race ([`stores`]), and weak release/acquire, which the same search decides ([`Flavor`]): what is unsafe under the
//! first is unsafe, what is safe under the second is safe, and a violation of the second is believed if its messages
//! can be put in order.
//!
//! The search knows messages, and locations all of whose accesses act on the last one. Accesses that are seq_cst beside
//! others are taken as release and acquire, which allows more (`memory::weakened`); a violation is believed if the
//! machine has it, which asks the axioms of the language of them.
//!
//! | file | idea |
//! |---|---|
//! | [`kinds`] | kinds of messages; letters |
//! | [`lists`] | lists of letters, sets of lists, and the order on them |
//! | [`constraint`] | where threads are, and what is asked of each |
//! | [`write`] | what must have been so before a write |
//! | [`system`] | potentials as a well-structured system |
//! | [`alone`] | what a thread can have written by itself |
//! | [`turning`] | interchangeable threads |
//! | [`run`] | from rules to a run of the reference semantics |
//! | [`proof`] | what a safe search leaves behind, for certificates |
//! | [`stores`] | stores that race, where release/acquire may differ from strong release/acquire |

mod alone;
mod constraint;
mod kinds;
mod lists;
pub mod proof;
mod run;
mod stores;
mod system;
mod turning;
mod write;

use crate::engine::automaton::{Automaton, ProcessAutomaton, RegisterFree, Unmade};
use crate::engine::backward::bad::{announce, bad_situations};
use crate::engine::backward::told::{answer, automaton, shown, unmerged, unsafe_or_unknown};
use crate::engine::backward::{End, Search};
use crate::engine::sequential::believed;
use crate::engine::{
    Answer, Card, Engine, Options, Reduction, Repairs, RestsOn, StopReason, Task, Unsupported, Verdict,
};
use crate::memory::{Job, Machine, Messaging, Sequential, sequential, weakened};
use crate::program::{EdgeId, ProcessId, Program};
use crate::system::Run;
use crate::util::Idx;
use crate::watch::{Monitor, Part};

use constraint::{ABSENT, states};
use kinds::Flavor;
use run::Begun;
use stores::racing;
use system::{Potentials, Reducing, Rule};

/// The engine for release/acquire.
#[derive(Clone, Copy, Debug)]
pub struct Potential;

const ALONE: Reduction =
    Reduction { name: "alone", about: "messages are only asked for that their writer can have written by itself" };
const ONE_LAST: Reduction = Reduction { name: "one-last", about: "a location has one last message, and one first" };
const NAMES: Reduction =
    Reduction { name: "names", about: "writers are told apart only where older messages can be read" };
const LATE_READS: Reduction =
    Reduction { name: "late-reads", about: "a thread that has just read is the last to have taken a step" };

static CARD: Card = Card {
    name: "potential",
    about: "backward search over what threads can still read (after Lahav, Boker 2020); exact for release/acquire",
    reductions: &[
        Reduction::DEAD_REGISTERS,
        Reduction::LOCAL_STEPS,
        Reduction::BISIMILAR,
        ALONE,
        ONE_LAST,
        NAMES,
        LATE_READS,
        Reduction::ABSENT,
        Reduction::SYMMETRY,
    ],
    settings: &[],
    contradiction: |_| None,
    repairs: Repairs::ByRuns,
    rests_on: RestsOn::Basis,
    asks_others: false,
};

impl Engine for Potential {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        task.is_closed()?;
        messaging(task)?;
        let refusing = Refusing { task };
        task.model.with(task.options.dialect, refusing).map_or(Ok(()), Err)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        monitor.begins(Part::Engine(self.name()));
        self.takes(task)?;
        let Some(program) = weakened(task.program) else { return self.search(task, monitor) };
        let mut answer = self.search(&Task { program: &program, ..*task }, monitor)?;
        if let Verdict::Unsafe(run) = &answer.verdict {
            answer.verdict = believed(task, run);
        }
        Ok(answer)
    }
}

/// The locations all of whose accesses act on the last message.
fn ordered(program: &Program) -> Vec<bool> {
    sequential(program).iter().map(|&it| it == Sequential::Always).collect()
}

fn messaging(task: &Task<'_>) -> Result<Messaging, Unsupported> {
    task.model.messaging().ok_or_else(|| Unsupported {
        reason: format!("this engine is for release/acquire, and {} has no messages", task.model),
        help: "use `--model sra`, or `--engine auto`".to_owned(),
    })
}

/// Asks the machine of a model whether it has a meaning for a program.
struct Refusing<'a> {
    task: &'a Task<'a>,
}

impl Job for Refusing<'_> {
    type Output = Option<Unsupported>;

    fn run<M: Machine>(self, machine: M) -> Option<Unsupported> {
        let help = format!("choose another model than {}", self.task.model);
        machine.refuses(self.task.program).map(|reason| Unsupported { reason, help })
    }
}

impl Potential {
    fn search(self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        let automaton = automaton(task)?;
        let program = match RegisterFree::new(task, &automaton, monitor) {
            Ok(program) => program,
            Err(unmade) => return unmade.answered(self.name()),
        };
        let reducing = reducing(task.options);
        if let Err(stop) = announce(task.program, &program, reducing.absent, monitor) {
            return Unmade::Stopped(stop).answered(self.name());
        }
        let bad = bad_situations(task.program, &program, reducing.absent);
        let mut search = Search::new(Potentials::new(&program, &ordered(task.program), bad, reducing));
        let verdict = match search.run(task.options.threads, monitor) {
            End::Safe => match messaging(task)? {
                Messaging::Appended => Verdict::Safe,
                Messaging::Inserted => inserted(task, (&automaton, &program), reducing, monitor),
            },
            End::Stopped(reason) => Verdict::Unknown(reason),
            End::Unsafe(rules) => unsafe_or_unknown(run_of(task, &automaton, &search, &rules, run::appended)),
        };
        Ok(answer(self.name(), &search, verdict))
    }
}

/// The verdict of release/acquire for what is safe under strong release/acquire. If no two stores race, both are one;
/// otherwise the answer may come from weak release/acquire, which allows more.
fn inserted(
    task: &Task<'_>,
    (automaton, program): (&Automaton<'_>, &RegisterFree),
    reducing: Reducing,
    monitor: &dyn Monitor,
) -> Verdict {
    let ordered = ordered(task.program);
    let edges = match racing(program, &ordered, reducing, task.options.threads, monitor) {
        Ok(None) => return Verdict::Safe,
        Ok(Some(edges)) => edges,
        Err(reason) => return Verdict::Unknown(reason),
    };
    let bad = bad_situations(task.program, program, reducing.absent);
    let reducing = Reducing { flavor: Flavor::Weak, ..reducing };
    let mut search = Search::new(Potentials::new(program, &ordered, bad, reducing));
    let rules = match search.run(task.options.threads, monitor) {
        End::Safe => return Verdict::Safe,
        End::Stopped(reason) => return Verdict::Unknown(reason),
        End::Unsafe(rules) => rules,
    };
    if let Ok(run) = run_of(task, automaton, &search, &rules, run::inserted) {
        return Verdict::Unsafe(Box::new(run));
    }
    let line = |edge: EdgeId| task.program.source().line_name(task.program.edges()[edge].span);
    let mut lines = edges.map(line).to_vec();
    lines.dedup();
    let what = format!("the answer hangs on the order of racing stores ({})", lines.join(" and "));
    Verdict::Unknown(StopReason::Unconfirmed(what))
}

/// Weak release/acquire alone: what is safe there is safe under release/acquire, and an alarm says nothing.
#[derive(Clone, Copy, Debug)]
pub struct Weakly;

impl Engine for Weakly {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        Potential.takes(task)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        self.takes(task)?;
        let weakened = weakened(task.program);
        let task = &Task { program: weakened.as_ref().unwrap_or(task.program), ..*task };
        let automaton = automaton(task)?;
        let program = match RegisterFree::new(task, &automaton, monitor) {
            Ok(program) => program,
            Err(unmade) => return unmade.answered(self.name()),
        };
        let reducing = Reducing { flavor: Flavor::Weak, ..reducing(task.options) };
        let bad = bad_situations(task.program, &program, reducing.absent);
        let mut search = Search::new(Potentials::new(&program, &ordered(task.program), bad, reducing));
        let verdict = match search.run(task.options.threads, monitor) {
            End::Safe => Verdict::Safe,
            End::Stopped(reason) => Verdict::Unknown(reason),
            End::Unsafe(_) => Verdict::Unknown(StopReason::Unconfirmed("messages without an order".to_owned())),
        };
        Ok(answer(self.name(), &search, verdict))
    }
}

fn reducing(options: &Options) -> Reducing {
    Reducing {
        alone: options.is_on(ALONE),
        one_last: options.is_on(ONE_LAST),
        names: options.is_on(NAMES),
        late_reads: options.is_on(LATE_READS),
        absent: options.is_on(Reduction::ABSENT),
        symmetry: options.is_on(Reduction::SYMMETRY),
        flavor: Flavor::Strong,
    }
}

/// How messages get into their order along a path: what each rule passes over.
type Places = fn(&Potentials<'_>, &Begun, &[Rule]) -> Option<Vec<run::Passed>>;

/// The run that rules stand for, replayed.
fn run_of(
    task: &Task<'_>,
    automaton: &Automaton<'_>,
    search: &Search<Potentials<'_>>,
    rules: &[Rule],
    places: Places,
) -> Result<Run, StopReason> {
    let system = search.system();
    let first = search.last().expect("the initial constraint was the last to be added");
    let lost = || StopReason::Defect("the path of the search cannot be followed".to_owned());
    let memory = system.beginning(first).ok_or_else(lost)?;
    let state = |(process, automaton): (ProcessId, &ProcessAutomaton)| match states(first)[process.index()] {
        ABSENT => *automaton.initial.keys().next().expect("a process starts somewhere"),
        state => state,
    };
    let begun = Begun { states: system.program.processes.iter_enumerated().map(state).collect(), memory };
    let rules = system.turning.straightened(rules, system.program);
    let passed = places(system, &begun, &rules).ok_or_else(lost)?;
    let (path, fault) = run::followed(system, begun, &rules);
    let path = unmerged(system.program, path)?;
    let path = run::chosen(task, (automaton, system.program), (path, &passed))?;
    shown(task, automaton, &path, fault)
}
