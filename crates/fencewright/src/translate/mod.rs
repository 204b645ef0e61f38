//! Store buffers made explicit: a program whose behavior under SC is that of the given one under a weaker model.
//!
//! Dan, Meshman, Vechev, Yahav, _Effective Abstractions for Verification under Relaxed Memory Models_, VMCAI 2015 (the
//! robust-buffers paper). Each process gets registers that hold its buffered stores; each operation on memory becomes a
//! block that is executed in one step, and edges that lead back to where they start let the oldest store reach memory.
//!
//! ```text
//!   program, fences ──graph──▶ steps ──sizes──▶ how full can each buffer be? ──┐
//!                                └────noticed──▶ where must stores get out? ───┼── build ──▶ Translated
//!                             direct: shift, count   guided: stay, one flag ───┘
//! ```
//!
//! The buffers have as many slots as there can be pending stores; where a loop stores without end, as many as
//! [`Request::bound`] says. A process that would need one more goes to a point of its own, `overflow`, and reaching it
//! violates a property of its own ([`Translated::overflow`]): nothing is known then. It is never assumed away.
//!
//! Departures from the paper: its Fig. 4 lets a load look at slots beyond the count, ours does not; a free slot holds
//! its first value again, so that states that mean the same are the same; store-store fences, atomic updates and locked
//! blocks are not in the paper, nor is leaving out stores that repeat another ([`Repeats`]). Behind a store-store fence
//! a new *epoch* begins, and a store may leave only when none of an earlier epoch is pending.

mod buffers;
mod build;
mod direct;
mod graph;
mod guided;
mod logic;
mod noticed;
pub mod print;
mod repeats;
mod rules;
mod sizes;

use crate::memory::Buffering;
use crate::program::{EdgeId, Placement, PointId, ProcessId, Program, PropertyId, RegisterId};
use crate::util::IndexVec;

/// What is to be translated, and how.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The program.
    pub program: &'a Program,
    /// The fences laid over it.
    pub placement: &'a Placement,
    /// How stores wait under the model whose behavior is wanted.
    pub buffering: Buffering,
    /// How buffers are written down.
    pub method: Method,
    /// No buffer has more slots than this, from 1 to [`MAX_SLOTS`]; otherwise [`DEFAULT_BOUND`] where stores may pile
    /// up for ever, and as many as it takes elsewhere.
    pub bound: Option<u32>,
    /// Where stores may reach memory.
    pub flushes: Flushes,
    /// What becomes of a process whose buffer has no slot left.
    pub overflow: Overflow,
    /// What becomes of a store that says what the newest pending one says.
    pub repeats: Repeats,
}

/// How buffers are written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// A counter, and slots that move up when the first has left (the paper's section 3.2).
    Direct,
    /// Slots that keep their place, each with a flag for each location: the paper's robust buffers (section 4).
    #[default]
    Guided,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Direct, Self::Guided];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Guided => "guided",
        }
    }

    /// What it does, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Direct => "a counter, and slots that move up when the first store has left",
            Self::Guided => "slots that keep their place, with one flag for each slot and location",
        }
    }
}

/// Where stores may reach memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flushes {
    /// At every point where one may be pending.
    Everywhere,
    /// Not where the process has only local steps to do that nobody sees, which may as well come first.
    #[default]
    WhereNoticed,
}

/// What becomes of a process whose buffer has no slot left. Either way it stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Overflow {
    /// That violates a property of its own, so that `safe` means that it does not happen.
    #[default]
    Violation,
    /// Nothing: every violation is one of the original program, and `safe` is said of runs without overflow only.
    Stop,
}

/// What becomes of a store that says what the newest pending one says, where a buffer may have no slot left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Repeats {
    /// It takes a slot, as in the paper.
    #[default]
    Kept,
    /// It is left out if nobody else writes the location, so that a loop that stores while it waits fills no buffer.
    LeftOut,
}

impl Overflow {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Violation, Self::Stop];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Violation => "violation",
            Self::Stop => "stop",
        }
    }

    /// What it means, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Violation => "a violation of its own, so that no overflow is missed",
            Self::Stop => "its thread stops; what is found is real, but \"safe\" means nothing",
        }
    }
}

/// The most slots that a buffer can have.
pub const MAX_SLOTS: u32 = 64;

/// How many slots a buffer has in which a loop piles up stores.
pub const DEFAULT_BOUND: u32 = 4;

/// A program with its store buffers made explicit.
///
/// Its locations, arrays, processes, first registers and first properties are those of the original, with the same ids,
/// save that a property about the end asks that the buffers of processes that have not ended are empty.
#[derive(Clone, Debug)]
pub struct Translated {
    /// To be looked at under SC.
    pub program: Program,
    /// How stores wait under the model whose behavior it has.
    pub buffering: Buffering,
    /// How its buffers are written down.
    pub method: Method,
    /// For each edge, what it stands for.
    pub origins: IndexVec<EdgeId, Origin>,
    /// For each point, which of the original it stands for; none for those between a fence and its edge, and for
    /// `overflow`. An end stands twice: with stores pending, and without.
    pub points: IndexVec<PointId, Option<PointId>>,
    /// For each process, what its further registers are for.
    pub roles: IndexVec<ProcessId, Vec<(RegisterId, Role)>>,
    /// The property that a buffer without a slot left violates, where that may happen and counts as a violation.
    pub overflow: Option<PropertyId>,
    /// For each process, the number of slots of its largest buffer.
    pub slots: IndexVec<ProcessId, u32>,
    /// Whether the original has memory orders or plain data, which mean nothing under SC and are left out.
    pub leaves_out_orders: bool,
}

/// What an edge of a translated program stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// This edge of the original.
    Edge(EdgeId),
    /// A fence laid over this edge.
    Fence(EdgeId),
    /// A store reaches memory.
    Arrival,
    /// This edge finds no slot for its store, or too many store-store fences pending.
    Overflow(EdgeId),
    /// A process that has ended has nothing pending any more.
    Drained,
}

/// What a register is for that the original does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Whether a slot holds a store to a location; a boolean.
    Flag,
    /// The value of a buffered store.
    Value,
    /// How many stores are buffered.
    Count,
    /// Which location a buffered store is for.
    Target,
    /// How many store-store fences came before a store, or before what comes next.
    Epoch,
    /// The value that an atomic update found; of no interest outside its step.
    Scratch,
}

impl Role {
    /// Whether it describes the shape of the buffers, and so has few values that should be kept apart.
    pub fn is_shape(self) -> bool {
        match self {
            Self::Flag | Self::Count | Self::Target | Self::Epoch => true,
            Self::Value | Self::Scratch => false,
        }
    }
}

/// Makes the store buffers of a program explicit. Under SC there are none, and the program stays as it is, save that
/// its fences are laid into it. Invariants of memory are left to an observer, one more thread; one that no observer can
/// see, because it reads registers of a thread that may be beside a fence, is looked at wherever a store may arrive.
pub fn translate(request: &Request<'_>) -> Translated {
    if !request.program.has_invariants() {
        return build::build(request);
    }
    match request.program.with_observer(request.placement) {
        Ok(program) => build::build(&Request { program: &program, ..*request }),
        Err(_) => build::build(&Request { flushes: Flushes::Everywhere, ..*request }),
    }
}
