//! The arguments of `fence`: which fences, how many sets, found how, and what to do with them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fencewright::memory::Model;
use fencewright::program::FenceKind;
use fencewright::synth::{By, Method, Place, Profile, Repair, Wanted};

use super::names::kinds;
use super::{InputArguments, SearchArguments};

/// `fence`
#[derive(Debug, Args)]
pub(crate) struct FenceArguments {
    /// The programs, or folders of programs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub how_many: HowMany,
    #[command(flatten)]
    pub which: WhichFences,
    /// How sets are found; they are the same
    #[arg(long, value_name = "METHOD", default_value = "auto", help_heading = "Fences")]
    pub method: MethodArgument,
    /// A table of costs: `LINE KIND COST` on each line
    #[arg(long, value_name = "FILE", help_heading = "Fences")]
    pub cost: Option<PathBuf>,
    /// What may be changed in a C text; `fences` where places are given [default: both]
    #[arg(long, value_name = "WHAT", help_heading = "Fences")]
    pub repair: Option<RepairArgument>,
    /// The machine that costs are for
    #[arg(long, value_name = "MACHINE", default_value = "x86", help_heading = "Fences")]
    pub cost_profile: ProfileArgument,
    /// Write the program with the cheapest set found; `-` is standard output
    #[arg(long, value_name = "OUT", help_heading = "Fences")]
    pub write: Option<PathBuf>,
    /// Print the cheapest set found as a unified diff, for `patch -p1`
    #[arg(long, help_heading = "Fences")]
    pub diff: bool,
    /// With several models: one answer for each, instead of one repair that is right under all of them
    #[arg(long, help_heading = "Fences")]
    pub each: bool,
    #[command(flatten)]
    pub search: SearchArguments,
    #[command(flatten)]
    pub input: InputArguments,
}

/// Which fences may be used.
#[derive(Clone, Debug, Args)]
pub(crate) struct WhichFences {
    /// Where fences may stand: `after-stores`, `before-loads`, `anywhere`, or labels, comma-separated
    /// [default: after-stores]
    #[arg(long, value_name = "PLACE", help_heading = "Fences")]
    place: Option<Place>,
    /// Kinds of fences, comma-separated [default: full,store-store]
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = kinds(), help_heading = "Fences")]
    kinds: Vec<FenceKind>,
    /// Who shares a fence [default: source]
    #[arg(long, value_name = "WHO", help_heading = "Fences")]
    by: Option<ByArgument>,
}

impl WhichFences {
    /// Where they may stand.
    pub(crate) fn place(&self) -> Place {
        self.place.clone().unwrap_or(Place::AfterStores)
    }

    /// The kinds, each once.
    pub(crate) fn kinds(&self) -> Vec<FenceKind> {
        FenceKind::ALL.into_iter().filter(|kind| self.kinds.is_empty() || self.kinds.contains(kind)).collect()
    }

    /// Who shares a fence.
    pub(crate) fn by(&self) -> By {
        self.by.unwrap_or(ByArgument::Source).into()
    }

    /// An option that was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [("place", self.place.is_some()), ("kinds", !self.kinds.is_empty()), ("by", self.by.is_some())];
        given.into_iter().find(|it| it.1).map(|it| it.0)
    }
}

/// How many sets.
#[derive(Clone, Copy, Debug, Args)]
#[group(multiple = false)]
pub(crate) struct HowMany {
    /// Every minimal set (the default)
    #[arg(long, help_heading = "Fences")]
    pub all: bool,
    /// One minimal set, with few fences
    #[arg(long, help_heading = "Fences")]
    pub first: bool,
    /// A set that costs least
    #[arg(long, help_heading = "Fences")]
    pub cheapest: bool,
}

/// Who shares a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ByArgument {
    /// All members of a thread family: a fence that can be written
    Source,
    /// Each process has its own
    Process,
}

impl From<ByArgument> for By {
    fn from(by: ByArgument) -> Self {
        match by {
            ByArgument::Source => Self::Source,
            ByArgument::Process => Self::Process,
        }
    }
}

/// What may be changed in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RepairArgument {
    /// Orders of accesses become stronger
    Orders,
    /// Fences are inserted
    Fences,
    /// An order where it can be changed, a fence elsewhere
    Both,
}

impl From<RepairArgument> for Repair {
    fn from(repair: RepairArgument) -> Self {
        match repair {
            RepairArgument::Orders => Self::Orders,
            RepairArgument::Fences => Self::Fences,
            RepairArgument::Both => Self::Both,
        }
    }
}

/// The machine that costs are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProfileArgument {
    /// Only what waits for the store buffer costs
    X86,
    /// A release store is cheaper than a release fence
    Arm,
}

impl From<ProfileArgument> for Profile {
    fn from(profile: ProfileArgument) -> Self {
        match profile {
            ProfileArgument::X86 => Self::X86,
            ProfileArgument::Arm => Self::Arm,
        }
    }
}

/// How sets are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MethodArgument {
    /// The loop, which is quicker on almost all programs
    Auto,
    /// From one bad run after another
    Loop,
    /// From one search with fences that may be there or not; under TSO
    Labelled,
    /// From what fences avoid in the abstraction of `coherence`, which does so by default
    Avoid,
    /// One set: from all fences down as long as a proof goes through; `numeric` does so where it cannot tell more
    Prune,
}

impl From<MethodArgument> for Method {
    fn from(method: MethodArgument) -> Self {
        match method {
            MethodArgument::Auto => Self::Auto,
            MethodArgument::Loop => Self::Loop,
            MethodArgument::Labelled => Self::Labelled,
            MethodArgument::Avoid => Self::Avoid,
            MethodArgument::Prune => Self::Prune,
        }
    }
}

impl FenceArguments {
    /// The models that each answer is about.
    pub(crate) fn questions(&self) -> Vec<Vec<Model>> {
        let models = self.search.models();
        if self.each { models.into_iter().map(|model| vec![model]).collect() } else { vec![models] }
    }

    /// What may be changed.
    pub(crate) fn repair(&self) -> Repair {
        let fallback = if self.which.place.is_some() { Repair::Fences } else { Repair::Both };
        self.repair.map_or(fallback, Repair::from)
    }

    /// How many sets are wanted.
    pub(crate) fn wanted(&self) -> Wanted {
        match self.how_many {
            HowMany { first: true, .. } => Wanted::First,
            HowMany { cheapest: true, .. } => Wanted::Cheapest,
            HowMany { .. } => Wanted::All,
        }
    }
}
