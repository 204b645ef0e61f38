//! Which memory models there are, and the one place where the name of a model becomes a machine.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::{Foreign, Machine, Pso, Ra, Rc11, ReleaseSequence, Sc, Sra, Tso};
use crate::program::FenceKind;

/// A memory model.
#[derive(Clone, Copy, Debug)]
pub enum Model {
    /// Sequential consistency: no buffers.
    Sc,
    /// Total store order: one FIFO of stores per process.
    Tso,
    /// Partial store order: one FIFO of stores per process and location.
    Pso,
    /// Strong release/acquire: messages, put into modification order as they are written.
    Sra,
    /// Release/acquire: messages, put into modification order anywhere above what the writer has seen.
    Ra,
    /// What C11 promises: execution graphs that axioms allow.
    Rc11(ReleaseSequence),
    /// A model that was written elsewhere.
    Foreign(&'static dyn Foreign),
}

impl Model {
    /// All of ours with store buffers or without, from the strongest to the weakest.
    pub const ALL: [Self; 3] = [Self::Sc, Self::Tso, Self::Pso];

    /// The strongest: what happens, happens in memory.
    pub const STRONGEST: Self = Self::Sc;

    /// Ours under which stores wait, from the strongest to the weakest.
    pub const BUFFERED: [Self; 2] = [Self::Tso, Self::Pso];

    /// Ours whose memory is messages: release/acquire, from the strongest to the weakest.
    pub const RELEASE_ACQUIRE: [Self; 2] = [Self::Sra, Self::Ra];

    /// Ours that are languages: what their orders promise.
    pub const LANGUAGES: [Self; 2] = [Self::Rc11(ReleaseSequence::Updates), Self::Rc11(ReleaseSequence::OwnStores)];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sc => "sc",
            Self::Tso => "tso",
            Self::Pso => "pso",
            Self::Sra => "sra",
            Self::Ra => "ra",
            Self::Rc11(ReleaseSequence::Updates) => "rc11",
            Self::Rc11(ReleaseSequence::OwnStores) => "rc11-rs11",
            Self::Foreign(model) => model.name(),
        }
    }

    /// All of ours.
    pub fn every() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().chain(Self::RELEASE_ACQUIRE).chain(Self::LANGUAGES)
    }

    /// Ours with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::every().find(|model| model.name() == name)
    }

    /// Does something with the machine of the model.
    pub fn with<J: Job>(self, dialect: Dialect, job: J) -> J::Output {
        match self {
            Self::Sc => job.run(Sc),
            Self::Tso => job.run(Tso),
            Self::Pso => job.run(Pso { rmw: dialect.pso_rmw }),
            Self::Sra => job.run(Sra),
            Self::Ra => job.run(Ra),
            Self::Rc11(sequence) => job.run(Rc11 { sequence }),
            Self::Foreign(model) => job.run(model),
        }
    }

    /// How stores wait, for the engines that are about that; `None` where a memory is more than its store buffers.
    pub const fn buffering(self, dialect: Dialect) -> Option<Buffering> {
        match self {
            Self::Sc => Some(Buffering::None),
            Self::Tso => Some(Buffering::Fifo),
            Self::Pso => Some(Buffering::PerLocation(dialect.pso_rmw)),
            Self::Sra | Self::Ra | Self::Rc11(_) | Self::Foreign(_) => None,
        }
    }

    /// How messages get into modification order, for the engines that are about that; `None` where there are none.
    pub const fn messaging(self) -> Option<Messaging> {
        match self {
            Self::Sra => Some(Messaging::Appended),
            Self::Ra => Some(Messaging::Inserted),
            Self::Sc | Self::Tso | Self::Pso | Self::Rc11(_) | Self::Foreign(_) => None,
        }
    }

    /// The axioms of a language, for the engines that are about these; `None` where a model is a machine.
    pub const fn language(self) -> Option<Rc11> {
        match self {
            Self::Rc11(sequence) => Some(Rc11 { sequence }),
            Self::Sc | Self::Tso | Self::Pso | Self::Sra | Self::Ra | Self::Foreign(_) => None,
        }
    }

    /// The model of messages that is the same for programs whose accesses it knows, for a language.
    pub const fn of_messages(self) -> Option<Self> {
        match self {
            Self::Rc11(_) => Some(Self::Ra),
            Self::Sc | Self::Tso | Self::Pso | Self::Sra | Self::Ra | Self::Foreign(_) => None,
        }
    }

    /// Ours come first, by strength; then the others, by name.
    fn rank(self) -> (u8, &'static str) {
        match self {
            Self::Sc => (0, ""),
            Self::Tso => (1, ""),
            Self::Pso => (2, ""),
            Self::Sra => (3, ""),
            Self::Ra => (4, ""),
            Self::Rc11(ReleaseSequence::Updates) => (5, ""),
            Self::Rc11(ReleaseSequence::OwnStores) => (6, ""),
            Self::Foreign(model) => (7, model.name()),
        }
    }
}

impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Model {}

impl PartialOrd for Model {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Model {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl Hash for Model {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is to be done with a machine, whichever it is.
pub trait Job {
    /// What comes of it.
    type Output;
    /// Does it.
    fn run<M: Machine>(self, machine: M) -> Self::Output;
}

/// Options of the semantics itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// What an atomic update waits for under PSO.
    pub pso_rmw: PsoRmw,
}

/// What an atomic update waits for under PSO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PsoRmw {
    /// The buffer of its own location is empty (SPARC).
    #[default]
    Location,
    /// All buffers of the process are empty (x86-like atomics).
    All,
}

/// How the stores of a process wait before they reach memory: all that the engines for store buffers know of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Buffering {
    /// They do not (SC).
    None,
    /// In one queue (TSO).
    Fifo,
    /// In a queue for each location, with markers of store-store fences (PSO); and what an atomic update waits for.
    PerLocation(PsoRmw),
}

impl Buffering {
    /// Whether a fence keeps nothing from anything.
    pub const fn ignores(self, fence: FenceKind) -> bool {
        match (self, fence) {
            (Self::None, FenceKind::Full | FenceKind::StoreStore) | (Self::Fifo, FenceKind::StoreStore) => true,
            (Self::Fifo, FenceKind::Full) | (Self::PerLocation(_), FenceKind::Full | FenceKind::StoreStore) => false,
        }
    }

    /// The name of the model whose stores wait like this.
    pub fn name(self) -> &'static str {
        let model = match self {
            Self::None => Model::Sc,
            Self::Fifo => Model::Tso,
            Self::PerLocation(_) => Model::Pso,
        };
        model.name()
    }
}

/// How messages get into the modification order of their location: all that the engines for messages know of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Messaging {
    /// At its end (SRA).
    Appended,
    /// Anywhere above what their writer has seen (RA).
    Inserted,
}
