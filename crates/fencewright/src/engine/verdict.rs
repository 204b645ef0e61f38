//! What an engine may say.

use std::fmt;

use crate::system::Run;
use crate::watch::Stop;

/// An engine's answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The engine that answered.
    pub engine: &'static str,
    /// What it says.
    pub verdict: Verdict,
    /// What it took.
    pub stats: Stats,
}

/// What was shown, and nothing beyond it.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// No bad situation is reachable: for every start, interleaving and flush order, buffers and loops unbounded.
    Safe,
    /// This run, replayed, reaches one.
    Unsafe(Box<Run>),
    /// Nothing is shown beyond what the reason says.
    Unknown(StopReason),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The time limit was reached.
    Timeout,
    /// The memory limit was reached.
    Memory,
    /// The user asked to stop.
    Interrupted,
    /// No violation with up to this many buffered stores per process; buffers may grow further.
    BufferBound(u32),
    /// No violation among this many states; the data is unbounded, so there may be no end of them.
    UnboundedData(u64),
    /// No violation among this many states, which is as far as the engine goes.
    States(u64),
    /// No answer within this many constraints, which is as many as the engine looks at.
    Constraints(u64),
    /// No answer within this many constraints over unbounded integers, where the search need not end.
    Diverged(u64),
    /// The abstraction that keeps this many stores in order raises an alarm, and no run confirms it.
    Alarm(u32),
    /// An alarm that no run confirms: what may go wrong, where, and what is known there.
    Unconfirmed(String),
    /// A thread may have more stores pending than this many slots hold; nothing is known of what it does then.
    Slots(u32),
    /// No violation as long as no more is allocated than there is room for; where it is.
    Pool(String),
    /// A value needs more than 64 bits.
    Overflow,
    /// There is a verdict, but no proof of it that could be written down.
    Unproved(String),
    /// The engine's run was refused by the reference semantics, or its proof by the checker: a defect of the engine.
    Defect(String),
}

impl From<Stop> for StopReason {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Time => Self::Timeout,
            Stop::Memory => Self::Memory,
            Stop::Asked => Self::Interrupted,
            Stop::Spent(n) => Self::Constraints(n),
        }
    }
}

impl StopReason {
    /// What to try next.
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Timeout => Some("give it more time with `--timeout`"),
            Self::Memory => Some("give it more memory with `--memory`"),
            Self::BufferBound(_) => Some("search further with `--bound N`, or put a fence on the loop that stores"),
            Self::UnboundedData(_) => Some("give the `int` variables a finite range"),
            Self::Constraints(_) => Some("use `--engine load-buffer`, which decides the same programs with less work"),
            Self::Diverged(_) => Some("give the `int` variables a finite range, for `--engine load-buffer`"),
            Self::Alarm(_) | Self::Unconfirmed(_) => Some("use `--engine auto`, whose engines are exact"),
            Self::Slots(_) => Some("give them more with `--bound N`, or put a fence on the loop that stores"),
            Self::Pool(_) => Some("make room for more with `--heap N`"),
            Self::Overflow => Some("give the `int` variables a finite range"),
            Self::Interrupted | Self::States(_) | Self::Unproved(_) => None,
            Self::Defect(_) => Some("please report this program: the tool contradicts itself"),
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => write!(f, "the time limit was reached"),
            Self::Memory => write!(f, "the memory limit was reached"),
            Self::Interrupted => write!(f, "interrupted"),
            Self::BufferBound(1) => write!(f, "no violation with up to 1 buffered store per thread"),
            Self::BufferBound(n) => write!(f, "no violation with up to {n} buffered stores per thread"),
            Self::UnboundedData(n) => write!(f, "no violation in the first {n} states; `int` data is unbounded"),
            Self::States(n) => write!(f, "no violation in the first {n} states"),
            Self::Constraints(n) => write!(f, "no answer within {n} constraints"),
            Self::Diverged(n) => write!(f, "no answer within {n} constraints over unbounded integers"),
            Self::Alarm(k) => write!(f, "the abstraction raises an alarm that no run confirms, with `k` = {k}"),
            Self::Unconfirmed(what) => write!(f, "an alarm that no run confirms: {what}"),
            Self::Slots(1) => write!(f, "a thread may buffer more stores than its slot holds"),
            Self::Slots(n) => write!(f, "a thread may buffer more stores than its {n} slots hold"),
            Self::Pool(place) => write!(f, "no violation until the room for what is allocated is used up ({place})"),
            Self::Overflow => write!(f, "a value needs more than 64 bits"),
            Self::Unproved(why) => write!(f, "no proof can be written down: {why}"),
            Self::Defect(what) => write!(f, "defect: {what}"),
        }
    }
}

/// What an answer took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// States (or constraints) looked at, over all rounds.
    pub explored: u64,
    /// States (or constraints) kept in the round that answered.
    pub kept: u64,
    /// Bytes they took.
    pub bytes: u64,
    /// Whether no shorter run than the one shown exists; `false` where there is no run.
    pub is_shortest: bool,
}

/// Why an engine does not take a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What it cannot do.
    pub reason: String,
    /// What to do instead.
    pub help: String,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}
