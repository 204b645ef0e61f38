//! Limits and progress: every long loop polls one [`Monitor`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::engine::StopReason;

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

/// Whoever watches a search: shows progress, and says when to stop.
pub trait Monitor: Sync {
    /// Called every few thousand states. `Some` ends the search.
    fn poll(&self, progress: &Progress) -> Option<StopReason>;
}

/// Watches nothing and never stops.
#[derive(Clone, Copy, Debug)]
pub struct Unlimited;

impl Monitor for Unlimited {
    fn poll(&self, _progress: &Progress) -> Option<StopReason> {
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
    fn poll(&self, progress: &Progress) -> Option<StopReason> {
        if self.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(StopReason::Interrupted);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Some(StopReason::Timeout);
        }
        self.bytes.is_some_and(|limit| progress.bytes > limit).then_some(StopReason::Memory)
    }
}
