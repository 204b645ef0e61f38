//! Watches a search: limits, Ctrl-C, the memory of the process, and progress on a terminal.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fencewright::watch::{Limits, LimitsMonitor, Monitor, Part, Progress, Stop, heeding};

use crate::console::{Console, complain};
use crate::{interrupt, rss, worker};

/// Asking the system for our size costs more than a poll.
const RSS_PERIOD: Duration = Duration::from_millis(50);
/// A search that ends sooner shows nothing.
const QUIET_TIME: Duration = Duration::from_millis(500);
/// How often somebody looks whether the limits are kept.
const LOOK_PERIOD: Duration = Duration::from_millis(10);
/// So long after the time is over nobody seems to listen.
const DEAF: Duration = Duration::from_millis(600);
const REDRAW_PERIOD: Duration = Duration::from_millis(100);

/// Watches one search.
#[derive(Debug)]
pub(crate) struct Watch {
    limits: LimitsMonitor<'static>,
    bytes: Option<u64>,
    time: Option<Duration>,
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
    /// Who searches, and with which fences.
    engine: String,
    fences: String,
}

/// The limits of several questions about one file under one model: each may take its part of the time that is left.
pub(crate) struct Turns {
    limits: Limits,
    started: Instant,
    n_left: u32,
}

impl Turns {
    /// So many questions, from now on.
    pub(crate) fn new(limits: Limits, n_questions: usize) -> Self {
        Self { limits, started: Instant::now(), n_left: u32::try_from(n_questions).unwrap_or(u32::MAX) }
    }

    /// The limits of the next.
    pub(crate) fn next(&mut self) -> Limits {
        let left = less(self.limits, self.started.elapsed());
        let part = left.time.map(|time| time / self.n_left.max(1));
        self.n_left = self.n_left.saturating_sub(1);
        Limits { time: part, ..left }
    }
}

/// Limits of which so much time is gone.
pub(crate) fn less(limits: Limits, time: Duration) -> Limits {
    Limits { time: limits.time.map(|it| it.saturating_sub(time)), ..limits }
}

impl Watch {
    /// The clock starts now.
    pub(crate) fn start(limits: Limits, title: String, console: &Console) -> Arc<Self> {
        Arc::new(Self {
            limits: LimitsMonitor::start(limits, Some(interrupt::flag())),
            bytes: limits.bytes,
            time: limits.time,
            started: Instant::now(),
            next_rss: AtomicU64::new(0),
            was_too_large: AtomicBool::new(false),
            title: console.shows_progress().then_some(title),
            drawn: Mutex::default(),
        })
    }

    /// The time so far.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Takes the progress line away.
    pub(crate) fn clear(&self) {
        if self.drawn.lock().is_ok_and(|mut it| it.last.take().is_some()) {
            complain("\r\x1b[K");
        }
    }

    /// Does something that polls this watch, on another thread. A phase that does not listen must not break the
    /// promise: when the limits are well over, its thread is left to itself, and it ends with the process.
    ///
    /// # Errors
    /// A limit was reached before there was a result.
    pub(crate) fn over<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Stop> {
        let watch = Arc::clone(self);
        let ended = worker::start(move || {
            let heard = Arc::<Self>::clone(&watch);
            heeding(heard, || work(&watch))
        });
        let mut soon = worker::soon(&ended);
        let done = loop {
            match soon.take().map_or_else(|| ended.recv_timeout(LOOK_PERIOD), Ok) {
                Ok(done) => break done.unwrap_or_else(|panic| resume_unwind(panic)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("a worker says how its work ends"),
            }
            if let Some(stop) = self.overrun() {
                break Err(stop);
            }
        };
        self.clear();
        done
    }

    /// Whether a limit is so far over that nobody seems to poll.
    fn overrun(&self) -> Option<Stop> {
        if interrupt::asked_since().is_some_and(|it| it >= interrupt::DEAF) {
            return Some(Stop::Asked);
        }
        if self.time.is_some_and(|limit| self.elapsed() >= limit + DEAF) {
            return Some(Stop::Time);
        }
        let limit = self.bytes?;
        let is_far_over = rss::current().is_some_and(|it| it > limit + limit / 8);
        is_far_over.then_some(Stop::Memory)
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
        complain(&format!("\r\x1b[K{}", line(title, &drawn, progress, elapsed)));
    }
}

impl Monitor for Watch {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        if let Some(title) = &self.title {
            self.draw(title, progress);
        }
        self.limits.poll(progress).or_else(|| self.is_too_large().then_some(Stop::Memory))
    }

    fn is_over(&self) -> Option<Stop> {
        self.limits.poll(&Progress::default()).or_else(|| self.is_too_large().then_some(Stop::Memory))
    }

    fn begins(&self, part: Part<'_>) {
        let Ok(mut drawn) = self.drawn.lock() else { return };
        match part {
            Part::Engine(name) => name.clone_into(&mut drawn.engine),
            Part::Fences(words) => words.clone_into(&mut drawn.fences),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The progress line: what is searched, with which fences, by whom, and how far it has come.
fn line(title: &str, drawn: &Drawn, progress: &Progress, elapsed: Duration) -> String {
    let rate = progress.explored as f64 / elapsed.as_secs_f64();
    let mut parts: Vec<String> =
        [&drawn.fences, &drawn.engine].into_iter().filter(|it| !it.is_empty()).cloned().collect();
    parts.push(format!("{} states", thousands(progress.explored)));
    parts.push(format!("{} queued", thousands(progress.queued)));
    parts.push(format!("{}/s", thousands(rate as u64)));
    // A search that goes from the end to the start has none.
    if progress.depth > 0 {
        parts.push(format!("depth {}", progress.depth));
    }
    format!("{title}: {}, {:.0} s", parts.join(", "), elapsed.as_secs_f64())
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
    use std::time::Duration;

    use fencewright::watch::Progress;

    use super::{Drawn, line, thousands};

    #[test]
    fn the_line_names_the_engine_the_depth_and_the_fences() {
        let drawn = Drawn { last: None, engine: "explicit".to_owned(), fences: "fences at 12, 17".to_owned() };
        let progress = Progress { explored: 2000, queued: 30, depth: 7, bytes: 0 };
        assert_eq!(
            line("sb.fw under tso", &drawn, &progress, Duration::from_secs(2)),
            "sb.fw under tso: fences at 12, 17, explicit, 2,000 states, 30 queued, 1,000/s, depth 7, 2 s"
        );
        let progress = Progress { depth: 0, ..progress };
        assert_eq!(
            line("sb.fw under tso", &Drawn::default(), &progress, Duration::from_secs(2)),
            "sb.fw under tso: 2,000 states, 30 queued, 1,000/s, 2 s"
        );
    }

    #[test]
    fn digits_come_in_groups_of_three() {
        assert_eq!(thousands(7), "7");
        assert_eq!(thousands(123), "123");
        assert_eq!(thousands(1234), "1,234");
        assert_eq!(thousands(1_234_567), "1,234,567");
    }
}
