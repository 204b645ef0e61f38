//! The one watcher of everything that runs long: every such loop polls a [`Monitor`], which shows progress and says
//! when to stop.
//!
//! ```text
//!   search, replay, checker, …  ──Progress──▶  Monitor  ──Stop──▶  the loop ends, and its result says so
//! ```
//!
//! What has no result for an end that somebody else wants, as a reader, says with [`heed`] that it works.

mod heed;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub use heed::{heard, heed, heeding, note_work, worked};

/// How far a search has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// States (or constraints) looked at so far.
    pub explored: u64,
    /// Known but not yet looked at.
    pub queued: u64,
    /// How deep it is.
    pub depth: u64,
    /// Bytes of the search's own tables.
    pub bytes: u64,
}

/// Why something that runs long has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stop {
    /// The time is over.
    Time,
    /// The memory is used up.
    Memory,
    /// Somebody asked for it.
    Asked,
    /// A budget of this many states or constraints, which one part of the tool gives another, is spent.
    Spent(u64),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time => write!(f, "the time limit was reached"),
            Self::Memory => write!(f, "the memory limit was reached"),
            Self::Asked => write!(f, "interrupted"),
            Self::Spent(n) => write!(f, "no answer within {n} constraints"),
        }
    }
}

/// Whoever watches: shows progress, and says when to stop.
pub trait Monitor: Sync {
    /// Called every few thousand states. `Some` ends what is watched.
    fn poll(&self, progress: &Progress) -> Option<Stop>;

    /// Whether to stop, asked by those who cannot say how far they have come.
    fn is_over(&self) -> Option<Stop> {
        self.poll(&Progress::default())
    }

    /// Called when something else begins, for those who show progress.
    fn begins(&self, part: Part<'_>) {
        let _ = part;
    }
}

impl<M: Monitor + Send + ?Sized> Monitor for Arc<M> {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        (**self).poll(progress)
    }

    fn is_over(&self) -> Option<Stop> {
        (**self).is_over()
    }

    fn begins(&self, part: Part<'_>) {
        (**self).begins(part);
    }
}

/// What begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The search of an engine.
    Engine(&'a str),
    /// The check of a set of fences, in words.
    Fences(&'a str),
}

/// Watches nothing and never stops.
#[derive(Clone, Copy, Debug)]
pub struct Unlimited;

impl Monitor for Unlimited {
    fn poll(&self, _progress: &Progress) -> Option<Stop> {
        None
    }
}

/// What a search may use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// How long it may take.
    pub time: Option<Duration>,
    /// How many bytes its tables may take.
    pub bytes: Option<u64>,
}

/// Enforces [`Limits`], and a flag that somebody else may raise.
#[derive(Debug)]
pub struct LimitsMonitor<'a> {
    deadline: Option<Instant>,
    bytes: Option<u64>,
    interrupted: Option<&'a AtomicBool>,
}

impl<'a> LimitsMonitor<'a> {
    /// The clock starts now.
    pub fn start(limits: Limits, interrupted: Option<&'a AtomicBool>) -> Self {
        let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
        Self { deadline, bytes: limits.bytes, interrupted }
    }
}

impl Monitor for LimitsMonitor<'_> {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        if self.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Stop::Asked);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Some(Stop::Time);
        }
        self.bytes.is_some_and(|limit| progress.bytes > limit).then_some(Stop::Memory)
    }
}

/// Stops at so many states or constraints, known or looked at, or when the other monitor does.
pub struct Budget<'a> {
    /// The other monitor.
    pub monitor: &'a dyn Monitor,
    /// So many.
    pub max: u64,
}

impl Monitor for Budget<'_> {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        let is_spent = progress.explored + progress.queued > self.max;
        self.monitor.poll(progress).or_else(|| is_spent.then_some(Stop::Spent(self.max)))
    }

    fn begins(&self, part: Part<'_>) {
        self.monitor.begins(part);
    }
}
