//! Watches a search: limits, Ctrl-C, the memory of the process, and progress on a terminal.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fencewright::watch::{Limits, LimitsMonitor, Monitor, Progress, Stop};

use crate::console::{Console, complain};
use crate::{interrupt, rss};

/// Asking the system for our size costs more than a poll.
const RSS_PERIOD: Duration = Duration::from_millis(50);
/// A search that ends sooner shows nothing.
const QUIET_TIME: Duration = Duration::from_millis(500);
const REDRAW_PERIOD: Duration = Duration::from_millis(100);

/// Watches one search.
#[derive(Debug)]
pub struct Watch<'a> {
    limits: LimitsMonitor<'a>,
    bytes: Option<u64>,
    started: Instant,
    /// When the size of the process is next asked for, in milliseconds from the start.
    next_rss: AtomicU64,
    /// A limit that was met stays met: a question may take several searches, and the first to hear of it may be one
    /// whose answer is not needed.
    was_too_large: AtomicBool,
    /// What is being searched; nothing where no progress is shown.
    title: Option<String>,
    drawn: Mutex<Drawn>,
}

/// What stands on the terminal.
#[derive(Debug, Default)]
struct Drawn {
    last: Option<Instant>,
}

impl Watch<'_> {
    /// The clock starts now.
    pub fn start(limits: Limits, title: String, console: &Console) -> Self {
        Self {
            limits: LimitsMonitor::start(limits, Some(interrupt::flag())),
            bytes: limits.bytes,
            started: Instant::now(),
            next_rss: AtomicU64::new(0),
            was_too_large: AtomicBool::new(false),
            title: console.shows_progress().then_some(title),
            drawn: Mutex::default(),
        }
    }

    /// The time so far.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn is_too_large(&self) -> bool {
        let Some(limit) = self.bytes else { return false };
        let now = self.elapsed().as_millis() as u64;
        let next = self.next_rss.load(Ordering::Relaxed);
        let mine = now + RSS_PERIOD.as_millis() as u64;
        let is_mine =
            now >= next && self.next_rss.compare_exchange(next, mine, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_mine && rss::current().is_some_and(|it| it > limit) {
            self.was_too_large.store(true, Ordering::Relaxed);
        }
        self.was_too_large.load(Ordering::Relaxed)
    }

    fn draw(&self, title: &str, progress: &Progress) {
        // Whoever finds another thread drawing has nothing to add.
        let Ok(mut drawn) = self.drawn.try_lock() else { return };
        let elapsed = self.elapsed();
        if elapsed < QUIET_TIME || drawn.last.is_some_and(|it| it.elapsed() < REDRAW_PERIOD) {
            return;
        }
        drawn.last = Some(Instant::now());
        let rate = progress.explored as f64 / elapsed.as_secs_f64();
        complain(&format!(
            "\r\x1b[K{title}: {} states, {} queued, {}/s, depth {}, {:.0} s",
            thousands(progress.explored),
            thousands(progress.queued),
            thousands(rate as u64),
            progress.depth,
            elapsed.as_secs_f64()
        ));
    }
}

impl Monitor for Watch<'_> {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        if let Some(title) = &self.title {
            self.draw(title, progress);
        }
        self.limits.poll(progress).or_else(|| self.is_too_large().then_some(Stop::Memory))
    }
}

impl Drop for Watch<'_> {
    /// Takes the progress line away.
    fn drop(&mut self) {
        if self.drawn.lock().is_ok_and(|it| it.last.is_some()) {
            complain("\r\x1b[K");
        }
    }
}

/// `1,234,567`
fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn digits_come_in_groups_of_three() {
        assert_eq!(thousands(7), "7");
        assert_eq!(thousands(123), "123");
        assert_eq!(thousands(1234), "1,234");
        assert_eq!(thousands(1_234_567), "1,234,567");
    }
}
