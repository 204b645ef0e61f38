//! The multiset engine: any number of copies of a thread, exact for finite data under SC, TSO and PSO.
//!
//! Abdulla, Atig, Bouajjani, Ngo, _The benefits of duality in verifying concurrent programs under TSO_, CONCUR 2016:
//! the load-buffer semantics of threads without names is well-structured, so the backward search decides whether *some*
//! number of copies reaches a bad situation. A constraint is memory and a multiset of local states with their buffers
//! ([`system`]); what it does not name may be there, in any number. The rules are those of the load-buffer semantics
//! ([`lag`](super::lag)), and one more: somebody who was not named changes memory. Departures: PSO, whose store buffers
//! are guessed for a newcomer (`docs/theory/any-number.md` has the argument), and the least number.
//!
//! `safe` holds for every number of copies. A violation is a run of the instance with as many copies as it takes
//! ([`told`]), and a second search for fewer copies, which is bounded by their number, shows that none suffices.
//!
//! | file | idea |
//! |---|---|
//! | [`kinds`] | threads that are alike, and that they are |
//! | [`proof`] | the basis of a safe search, for certificates |
//! | [`system`] | multisets as constraints |
//! | [`told`] | from rules about elements to a run of an instance |

mod kinds;
pub mod proof;
mod system;
mod told;

use crate::engine::automaton::{RegisterFree, Unmade};
use crate::engine::backward::lag::system::{LoadBuffers, Machine, Reducing};
use crate::engine::backward::lag::{READ_BACK, VALUE_SETS, VIEW_STEPS, fits, reducing};
use crate::engine::backward::told::automaton;
use crate::engine::backward::{End, Search};
use crate::engine::observer::{is_observable, with_observer};
use crate::engine::{Answer, Card, Engine, Reduction, Repairs, RestsOn, Stats, StopReason, Task, Unsupported, Verdict};
use crate::watch::{Monitor, Part};

use kinds::Kinds;
use system::{Fresh, MAX_ELEMENTS, Multisets, Rule};

/// The multiset engine.
#[derive(Clone, Copy, Debug)]
pub struct Multiset;

static CARD: Card = Card {
    name: "multiset",
    about: "backward search over multisets of load buffers (Abdulla, Atig, Bouajjani, Ngo 2016): any number of \
            copies of a thread",
    reductions: &[
        Reduction::DEAD_REGISTERS,
        Reduction::LOCAL_STEPS,
        Reduction::BISIMILAR,
        VIEW_STEPS,
        Reduction::LAG_REGION,
        Reduction::LAST_WRITES,
        Reduction::SINGLE_WRITER,
        VALUE_SETS,
        READ_BACK,
    ],
    settings: &[],
    contradiction: |_| None,
    repairs: Repairs::ByRuns,
    rests_on: RestsOn::Multisets,
    asks_others: false,
};

impl Engine for Multiset {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        if task.program.open_templates().next().is_none() {
            return Err(Unsupported {
                reason: "this engine is for programs with any number of copies of a thread".to_owned(),
                help: "write `thread P(*)`, or use `--engine load-buffer`".to_owned(),
            });
        }
        task.buffering()?;
        fits(task)?;
        is_observable(task)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        monitor.begins(Part::Engine(self.name()));
        self.takes(task)?;
        self.sought(Sought::Least, task, monitor)
    }
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sought {
    /// A violation with any number of copies.
    Some,
    /// One with no more than so many, and then with as few as can be.
    AtMost(usize),
    /// One with as few as can be.
    Least,
}

impl Sought {
    /// The next search is for no more copies than this: fewer than there are in what was found.
    fn max(self, kinds: &Kinds, least: Option<&Found>) -> Option<usize> {
        match (least, self) {
            (None, Self::AtMost(n)) => Some(n),
            (None, Self::Some | Self::Least) => None,
            (Some(it), _) => Some(kinds.n_copies(&it.elements.iter().map(|it| it.kind)) - 1),
        }
    }
}

/// What a search has found: the rules of a violation, and how it ends.
struct Found {
    end: End<Rule>,
    /// All who take part in a violation, where they start; rules name them by their number.
    elements: Vec<Fresh>,
    memory: Vec<u16>,
    stats: Stats,
}

impl Multiset {
    /// Decides; a violation may have more copies than it takes.
    ///
    /// # Errors
    /// It does not take the task.
    pub fn some(self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        self.takes(task)?;
        self.sought(Sought::Some, task, monitor)
    }

    /// Decides for no more than so many copies in all. A violation has as few as can be.
    ///
    /// # Errors
    /// It does not take the task.
    pub fn at_most(self, n: usize, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        self.takes(task)?;
        self.sought(Sought::AtMost(n), task, monitor)
    }

    fn sought(self, sought: Sought, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        if !task.program.has_invariants() {
            return self.search(sought, (task, task), monitor);
        }
        let program = with_observer(task)?;
        self.search(sought, (task, &Task { program: &program, ..*task }), monitor)
    }

    /// Searches a program without invariants; runs are told of the program that was asked about.
    fn search(
        self,
        sought: Sought,
        (asked, task): (&Task<'_>, &Task<'_>),
        monitor: &dyn Monitor,
    ) -> Result<Answer, Unsupported> {
        let machine = Machine::of(task.buffering()?);
        let automaton = automaton(task)?;
        let program = match RegisterFree::new(task, &automaton, monitor) {
            Ok(program) => program,
            Err(unmade) => return unmade.answered(self.name()),
        };
        let kinds = Kinds::new(task.program, &program)?;
        let mut stats = Stats::default();
        let mut least: Option<Found> = None;
        let fewer = loop {
            let max = sought.max(&kinds, least.as_ref());
            if max.is_some_and(|max| max < kinds.fewest()) {
                break Verdict::Safe;
            }
            if least.is_some() && sought == Sought::Some {
                break Verdict::Unknown(StopReason::Unproved("nobody has looked at fewer copies".to_owned()));
            }
            let inner = match LoadBuffers::new(task.program, &program, machine, self.reducing(task), monitor) {
                Ok(inner) => inner,
                Err(stop) => return Unmade::Stopped(stop).answered(self.name()),
            };
            let found = found(Multisets::new(inner, &kinds, max), task.options.threads, monitor);
            stats = Stats { explored: stats.explored + found.stats.explored, ..found.stats };
            match found.end {
                End::Unsafe(_) => least = Some(found),
                End::Safe => break Verdict::Safe,
                End::Stopped(reason) => break Verdict::Unknown(reason),
            }
        };
        let verdict = match least {
            Some(found) => {
                // The second search may have kept nothing.
                stats = Stats { explored: stats.explored, ..found.stats };
                let searched = told::Searched { task, program: &program, kinds: &kinds };
                told::verdict(asked, searched, (&found, !matches!(fewer, Verdict::Safe)), monitor)?
            }
            None => fewer,
        };
        Ok(Answer { engine: self.name(), verdict, stats })
    }

    /// Elements have no names that could be changed, and what is not named is left open.
    fn reducing(self, task: &Task<'_>) -> Reducing {
        Reducing { absent: true, symmetry: false, ..reducing(task.options) }
    }
}

fn found(system: Multisets<'_>, n_threads: usize, monitor: &dyn Monitor) -> Found {
    let mut searching = Search::new(system);
    let end = search(&mut searching, n_threads, monitor);
    let (kept, explored, bytes) = (searching.n_kept(), searching.n_explored, searching.bytes());
    let stats = Stats { explored, kept, bytes, is_shortest: false };
    match end {
        End::Unsafe(_) => {
            let first = searching.last().expect("the initial constraint was the last to be added");
            let (mut elements, memory) = searching.system().beginning(first);
            let end = End::Unsafe(numbered(&searching, &mut elements));
            Found { end, elements, memory, stats }
        }
        End::Safe | End::Stopped(_) => Found { end, elements: Vec::new(), memory: Vec::new(), stats },
    }
}

/// The rules of a violation with elements by their number: first those of the initial constraint, then those that were
/// left out where they start, as they are met on the way.
fn numbered(search: &Search<Multisets<'_>>, elements: &mut Vec<Fresh>) -> Vec<Rule> {
    let mut at: Vec<u32> = (0..elements.len() as u32).collect();
    let numbered = search.path().into_iter().map(|(rule, leads_to)| {
        let place = rule.element as usize;
        if let Some(fresh) = rule.fresh {
            at.insert(place, elements.len() as u32);
            elements.push(fresh);
        }
        let element = at[place];
        // Who is not named any more came last.
        at.truncate(search.system().n_elements(leads_to));
        Rule { element, ..rule }
    });
    numbered.collect()
}

fn search(search: &mut Search<Multisets<'_>>, n_threads: usize, monitor: &dyn Monitor) -> End<Rule> {
    match search.run(n_threads, monitor) {
        End::Safe if search.system().has_met_limit() => {
            End::Stopped(StopReason::Unproved(format!("a violation may take more than {MAX_ELEMENTS} threads")))
        }
        end @ (End::Safe | End::Unsafe(_) | End::Stopped(_)) => end,
    }
}
