//! Heeding a monitor from far below: readers, printers and checkers are deep and have no results of their own for an
//! end that somebody else wants. They say only that they have done some work ([`heed`]); whoever called them says whom
//! to ask ([`heeding`]), and gets the reason if they were stopped.
//!
//! Stopping is unwinding, without a message: what was under way is dropped, and nothing half done is seen.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use super::{Monitor, Stop};

/// So much work is done between two questions: some hundred microseconds.
const WORK_PER_POLL: u32 = 1 << 10;

/// Who is asked.
type Heard = Arc<dyn Monitor + Send + Sync>;

thread_local! {
    static HEARD: RefCell<Option<Heard>> = const { RefCell::new(None) };
    /// How much work may still be done before somebody is asked.
    static LEFT: Cell<u32> = const { Cell::new(WORK_PER_POLL) };
    /// How much was done when somebody was last asked.
    static DONE: Cell<u64> = const { Cell::new(0) };
}

/// What unwinds.
struct Stopped(Stop);

/// Does something on this thread that heeds a monitor.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use fencewright::watch::{Limits, LimitsMonitor, Stop, heed, heeding};
///
/// let limits = Limits { time: Some(Duration::from_millis(1)), bytes: None };
/// let monitor = Arc::new(LimitsMonitor::start(limits, None));
/// let stopped = heeding(monitor, || loop {
///     heed(1);
/// });
/// assert_eq!(stopped.map(|()| ()), Err(Stop::Time));
/// ```
///
/// # Errors
/// The monitor stopped it.
pub fn heeding<T>(monitor: Arc<dyn Monitor + Send + Sync>, work: impl FnOnce() -> T) -> Result<T, Stop> {
    let before = HEARD.replace(Some(monitor));
    let done = catch_unwind(AssertUnwindSafe(work));
    HEARD.set(before);
    done.map_err(|payload| match payload.downcast::<Stopped>() {
        Ok(stopped) => stopped.0,
        Err(panic) => resume_unwind(panic),
    })
}

/// Whom this thread heeds, for another that works for it.
pub fn heard() -> Option<Arc<dyn Monitor + Send + Sync>> {
    HEARD.with_borrow(Clone::clone)
}

/// Says that so much work was done, in steps of about a tenth of a microsecond; does not return if there shall be no
/// more. Where nobody watches, it does nothing.
#[inline]
pub fn heed(work: u32) {
    let left = LEFT.get();
    if work < left {
        LEFT.set(left - work);
        return;
    }
    DONE.set(worked() + u64::from(work));
    LEFT.set(WORK_PER_POLL);
    if let Some(stop) = heard().and_then(|it| it.is_over()) {
        resume_unwind(Box::new(Stopped(stop)));
    }
}

/// Says the same where others would be left waiting if it ended there: it goes on in any case.
#[inline]
pub fn note_work(work: u32) {
    DONE.set(DONE.get() + u64::from(work));
}

/// How much work this thread has said that it did: the same for the same work, on every machine.
pub fn worked() -> u64 {
    DONE.get() + u64::from(WORK_PER_POLL - LEFT.get())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{heed, heeding, note_work, worked};
    use crate::watch::{Monitor, Progress, Stop};

    struct Now;

    impl Monitor for Now {
        fn poll(&self, _progress: &Progress) -> Option<Stop> {
            Some(Stop::Asked)
        }
    }

    #[test]
    fn work_goes_on_where_nobody_watches() {
        for _ in 0..100_000 {
            heed(7);
        }
    }

    #[test]
    fn work_is_counted() {
        let before = worked();
        for work in 1..=3000 {
            heed(work);
            note_work(1);
        }
        assert_eq!(worked() - before, 3000 * 3001 / 2 + 3000);
    }

    #[test]
    fn work_ends_when_the_monitor_says_so_and_whoever_was_heard_before_is_heard_again() {
        let outer = heeding(Arc::new(crate::watch::Unlimited), || {
            let inner = heeding(Arc::new(Now), || {
                loop {
                    heed(1);
                }
            });
            assert_eq!(inner, Err::<(), _>(Stop::Asked));
            heed(u32::MAX);
        });
        assert_eq!(outer, Ok(()));
    }
}
