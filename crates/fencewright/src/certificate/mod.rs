//! Certificates: a verdict with its reasons, and a checker of its own.
//!
//! ```text
//!   engine ── verdict ──▶ prove ── Certificate ──▶ text ──▶ parse ──▶ verify ──▶ valid, or what is wrong
//!                                                                      ▲
//!                                                     program, memory, system: nothing else
//! ```
//!
//! The checker shares nothing with the engines but the definition of programs and of the models: a defect of an engine
//! cannot make it believe a wrong proof. `docs/certificates.md` has the format, what is checked, and why that suffices.
//!
//! A *safe* claim carries the basis of an upward-closed set of configurations of the load-buffer semantics that holds
//! every bad one, no initial one, and with each configuration all its predecessors ([`basis`]), for some threads at a
//! time ([`projections`]) or for any number of them ([`multisets`]; with an index [`represented`]); for release/acquire
//! that of a set of what threads can still read ([`potentials`]). Or it lists views that cover any two of any number of
//! threads with an index ([`crowd`]). Or it says how many states the plain machine has
//! ([`exploration`]), or memory behind buffers of which less is kept ([`buffers`]); or, for unbounded integers, it
//! names an abstraction in which nothing bad is reached ([`abstraction`]). Of a hang or a race, or of what is new
//! beside SC, bad situations are found again from the definition ([`hang`], [`race`], [`robust`]); that executions are
//! those of SC is seen by following every attack ([`robust`]). What C11 promises is shown by views beside SC
//! ([`views`]). An *unsafe* claim carries a run. A claim about *fences* carries both for the sets and clauses it names
//! ([`fences`]).

pub mod abstraction;
mod bad;
pub mod basis;
mod buffers;
mod closed;
mod crowd;
mod exploration;
mod facts;
pub mod fences;
mod forward;
mod hang;
mod hash;
mod held;
mod live;
mod locals;
pub mod multisets;
mod order;
mod parse;
pub mod potentials;
mod projections;
mod quotient;
mod race;
mod represented;
mod robust;
mod urgent;
mod verify;
mod views;
mod visit;
mod witness;
mod write;

use std::borrow::Cow;

use crate::memory::{Buffering, Dialect, Model, PsoRmw};
use crate::program::{Placement, Program};
use crate::watch::Monitor;

pub use abstraction::Abstraction;
pub use basis::{Basis, Constraint, Message, MessageKind, ProcessProof, Waiting};
pub use buffers::{Buffers, explore_blurred};
pub use crowd::{Crowd, CrowdView};
pub use exploration::{MAX_STATES, explore};
pub use fences::{FenceClaim, FenceOutcome, ProvedClause, ProvedSet};
pub use hash::digest;
pub use locals::{LocalState, local_states};
pub use multisets::{Gathering, Multisets};
pub use parse::parse;
pub use potentials::Potentials;
pub use projections::{Projected, Reason, foreign};
pub use race::explore_ordered;
pub use represented::arbitrary;
pub use robust::explore_attacks;
pub use verify::{Failure, verify};
pub use views::{Shows, explore_views};
pub use witness::Witness;
pub use write::write;

/// The version of the format; a checker reads its own only.
pub const VERSION: u32 = 1;

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// What it is about.
    pub subject: Subject,
    /// What it says.
    pub claim: Claim,
}

/// What a certificate is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The version of the tool that wrote it; for people.
    pub tool: String,
    /// The [`digest`] of the program.
    pub program: String,
    /// The memory model.
    pub model: Model,
    /// What an atomic update waits for under PSO.
    pub pso_rmw: PsoRmw,
    /// What is asked of the program.
    pub question: Question,
}

/// What is asked of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Question {
    /// Whether a bad situation can be reached.
    #[default]
    Safety,
    /// Whether it hangs, although these threads may wait for ever at a label: the name of the thread, or of its family,
    /// without blanks, and the label.
    Hang(Vec<(String, String)>),
    /// Whether accesses to plain data race. There are so many states under SC with who knows of which access.
    Race(u64),
    /// Whether it comes to something, by control and registers, that sequential consistency does not come to.
    Robust,
    /// Whether it has an execution that sequential consistency does not have.
    RobustTrace,
}

impl Question {
    /// The program with what is asked as its properties.
    ///
    /// # Errors
    /// There is too much to look at.
    pub fn of<'a>(&self, program: &'a Program, monitor: &dyn Monitor) -> Result<Cow<'a, Program>, Failure> {
        match self {
            Self::Safety => Ok(Cow::Borrowed(program)),
            Self::Hang(may_wait) => hang::asked(program, may_wait, &mut verify::Steps::new(monitor)).map(Cow::Owned),
            Self::Race(_) => race::asked(program, &mut verify::Steps::new(monitor)).map(Cow::Owned),
            Self::Robust => robust::asked(program, &mut verify::Steps::new(monitor)).map(Cow::Owned),
            Self::RobustTrace => Ok(Cow::Owned(robust::asked_of_traces(program))),
        }
    }

    /// Whether nothing is forbidden but what is asked about, so that a run can show it. Where data is unbounded, it may
    /// only be known where threads may hang.
    pub fn is_exact(&self, program: &Program, monitor: &dyn Monitor) -> bool {
        match self {
            Self::Hang(may_wait) => hang::is_exact(program, may_wait, &mut verify::Steps::new(monitor)),
            Self::Safety | Self::Race(_) | Self::Robust | Self::RobustTrace => true,
        }
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Safety => "safety",
            Self::Hang(_) => "hang",
            Self::Race(_) => "race",
            Self::Robust => "robust",
            Self::RobustTrace => "robust=trace",
        }
    }
}

impl Subject {
    /// The variant of the semantics.
    pub fn dialect(&self) -> Dialect {
        Dialect { pso_rmw: self.pso_rmw }
    }

    /// Whether what atomic updates wait for makes a difference under the model.
    fn has_dialect(&self) -> bool {
        matches!(self.model.buffering(self.dialect()), Some(Buffering::PerLocation(_)))
    }

    /// How stores wait under the model, which is all that proofs without states speak of.
    fn buffering(&self) -> Result<Buffering, Failure> {
        let found = self.model.buffering(self.dialect());
        found.ok_or_else(|| Failure::Refused(format!("{} has no store buffers, which the proof is about", self.model)))
    }
}

/// What a certificate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// With these fences over the program, no bad situation can be reached.
    Safe(Placement, Proof),
    /// With these fences over the program, this run reaches one.
    Unsafe(Placement, Witness),
    /// These are the fences that make the program correct.
    Fences(FenceClaim),
}

impl Claim {
    /// The fences that are laid over the program, if it is a claim about the program with them.
    pub fn laid_over(&self) -> Option<&Placement> {
        match self {
            Self::Safe(placement, _) | Self::Unsafe(placement, _) => Some(placement).filter(|it| !it.is_empty()),
            Self::Fences(_) => None,
        }
    }

    /// Whether it is about the program as it is written.
    pub fn is_of_the_program(&self) -> bool {
        self.laid_over().is_none()
    }
}

/// Why no bad situation can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Nothing that leads to one is initial.
    Basis(Box<Basis>),
    /// Nothing that leads to one is initial, whatever the number of copies of threads.
    Multisets(Box<Multisets>),
    /// Some threads at a time reach none, against any behavior of the others.
    Projections(Vec<Projected>),
    /// The same of each representative of a program with any number of threads with an index.
    Represented(Vec<Vec<Projected>>),
    /// Any two threads of any number with an index are as in one of these views, with a witness or without.
    Crowd(Box<Crowd>),
    /// The plain machine has so many states, and none is bad.
    Exploration(u64),
    /// With store buffers of which less is kept, there are so many states, and none is bad.
    Buffers(Buffers),
    /// Seen through this, nothing bad is reached.
    Abstraction(Abstraction),
    /// There are so many states under SC with an attack under way or none, and none succeeds.
    Attacks(u64),
    /// There are so many states under SC with what each thread may still read under RC11, and none is bad.
    Views(u64),
    /// Nothing that leads to one is initial, by what threads can still read (release/acquire).
    Potentials(Box<Potentials>),
    /// The same for some threads at a time, against any behavior of the others.
    ProjectedPotentials(Vec<Projected<Potentials>>),
}

impl Proof {
    /// Why nothing races in a program without plain data: no state has to be looked at, whatever goes wrong besides.
    pub const NO_PLAIN_DATA: Self = Self::Exploration(0);
}
