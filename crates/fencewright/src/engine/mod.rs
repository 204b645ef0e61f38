//! Engines: one search each, all answering the same question.
//!
//! An engine takes a [`Task`] and gives an [`Answer`]. `Safe` holds for unbounded buffers and loops; an `Unsafe`
//! carries a run that has been replayed on the reference semantics; everything else is `Unknown` and says why.

pub mod automaton;
pub mod backward;
mod card;
pub mod coherence;
mod copies;
pub(crate) mod crowd;
pub mod data_race;
mod each;
pub mod explicit;
pub mod hang;
pub(crate) mod indexed;
mod look;
pub mod numeric;
mod observer;
mod options;
mod outcomes;
mod packed;
mod pool;
pub mod portfolio;
pub mod predicates;
pub mod projection;
mod promised;
mod question;
mod race;
mod reached;
pub mod robust;
mod run;
mod sequential;
mod stroll;
mod symbolic;
mod verdict;
pub mod views;
pub mod zones;

use crate::memory::{Buffering, Model};
use crate::program::{Placement, Program};
use crate::system::{Flow, MAX_STARTS, starts};
use crate::watch::Monitor;

pub use automaton::Unmade;
pub use card::{Card, Reduction, Repairs, RestsOn};
pub use coherence::{Abstraction, Values};
pub use each::{Checked, Judged, each};
pub use numeric::Numbers;
pub(crate) use observer::with_observer;
pub use options::{Options, Setting, Settings, Takes};
pub use outcomes::{Outcomes, outcomes, witness};
pub use pool::{as_far_as_room, within_pools};
pub use predicates::Keep;
pub use question::{Asked, Question, Reduced, SAFETY, ask};
pub use reached::unreached;
pub use verdict::{Answer, Stats, StopReason, Unsupported, Verdict};

/// Every engine. The suite, the command line and the help iterate over this list, and nothing else knows them all.
pub const ALL: &[&dyn Engine] = &[
    &explicit::Explicit::DEFAULT,
    &backward::load_buffer::LoadBuffer,
    &backward::single_buffer::SingleBufferEngine,
    &backward::pws::Pws,
    &backward::multiset::Multiset,
    &coherence::Coherence::DEFAULT,
    &zones::ZonesEngine,
    &predicates::Predicates,
    &NUMERIC,
    &views::Views,
    &backward::potential::Potential,
];

/// The abstract interpreter as users get it: a short search looks into its alarms.
pub const NUMERIC: numeric::Numeric = numeric::Numeric { glance: &explicit::Explicit::GLANCE };

/// The name of the engine that is used when nobody chooses.
pub const AUTO: &str = "auto";

/// The engine with this name; `auto` is the one that is used when nobody chooses.
pub fn named(name: &str) -> Option<&'static dyn Engine> {
    match name {
        AUTO => Some(&portfolio::Auto),
        _ => ALL.iter().copied().find(|engine| engine.name() == name),
    }
}

/// The reduction with this name, of whichever engine.
pub fn reduction(name: &str) -> Option<Reduction> {
    ALL.iter().flat_map(|engine| engine.card().reductions).copied().find(|it| it.name == name)
}

/// One way to decide whether a program is correct.
pub trait Engine: Sync {
    /// Everything that others may want to know of it before they ask it.
    fn card(&self) -> &'static Card;

    /// Whether it would take a task, as far as can be seen at once.
    ///
    /// # Errors
    /// Why not.
    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported>;

    /// Decides whether a bad situation can be reached.
    ///
    /// # Errors
    /// It does not take the task.
    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported>;

    /// Its name on the command line.
    fn name(&self) -> &'static str {
        self.card().name
    }
}

/// Engines that look at each value, or keep sets of values, do better with so few. With more of them, values are better
/// left to those that keep bounds, to whom a range is two of these.
const FEW_VALUES: u64 = 64;

/// Refuses programs that may start in more ways than can be listed, or go on from a state in more.
fn is_enumerable(program: &Program) -> Result<(), Unsupported> {
    if starts(program).is_none() {
        return Err(Unsupported {
            reason: format!(
                "`any` stands for an `int`, or the program may start in more than {MAX_STARTS} ways, which cannot be \
                 enumerated"
            ),
            help: "give it a finite range, or a constant to start with".to_owned(),
        });
    }
    steps_are_narrow(program)
}

/// Refuses programs with an operation that has more outcomes than can be listed.
fn steps_are_narrow(program: &Program) -> Result<(), Unsupported> {
    let Some((edge, width)) = program.too_wide() else { return Ok(()) };
    let line = program.source().line_of(program.edges()[edge].span.start);
    Err(Unsupported {
        reason: format!("line {line} has {width} outcomes or more, of which this engine looks at each"),
        help: "choose from a smaller range, or split the block".to_owned(),
    })
}

/// What is to be decided.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The program.
    pub program: &'a Program,
    /// The fences laid over it.
    pub placement: &'a Placement,
    /// The memory model.
    pub model: Model,
    /// How to go about it.
    pub options: &'a Options,
}

impl<'a> Task<'a> {
    /// A program without further fences.
    pub fn new(program: &'a Program, model: Model, options: &'a Options) -> Self {
        const NONE: &Placement = &Placement::NONE;
        Self { program, placement: NONE, model, options }
    }

    /// The control flow of the program with its fences.
    pub fn flow(&self) -> Flow<'a> {
        Flow { program: self.program, placement: self.placement }
    }

    /// Refuses a program that leaves the number of its threads open.
    ///
    /// # Errors
    /// There is any number of copies of some thread.
    pub fn is_closed(&self) -> Result<(), Unsupported> {
        self.open().map_or(Ok(()), |name| {
            Err(Unsupported {
                reason: format!("there is any number of copies of `{name}`, and this takes a fixed number of threads"),
                help: format!("ask for safety with `--engine auto`, or list them: `thread {name}(i: 1..3)`"),
            })
        })
    }

    /// A thread whose number is left open.
    fn open(&self) -> Option<&String> {
        let listed = self.program.open_templates().next().map(|it| &self.program.templates()[it].name);
        listed.or_else(|| self.program.indexed()?.families.first())
    }

    /// How stores wait under the model, for the engines that are about that.
    ///
    /// # Errors
    /// The model has no store buffers.
    pub fn buffering(&self) -> Result<Buffering, Unsupported> {
        self.model.buffering(self.options.dialect).ok_or_else(|| match self.open() {
            Some(name) => Unsupported {
                reason: format!("any number of threads is for models with store buffers, and {} has none", self.model),
                help: format!("use sc, tso or pso, or list the threads: `thread {name}(i: 1..3)`"),
            },
            None => Unsupported {
                reason: format!("this engine is for models with store buffers, and {} has none", self.model),
                help: "use `--engine explicit`, which takes every model".to_owned(),
            },
        })
    }
}
