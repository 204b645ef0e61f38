//! Ctrl-C: the first asks, the second insists.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::code::{Code, leave};

/// How long the first may take; a second is promised.
const PATIENCE: Duration = Duration::from_millis(950);

/// So long after it was asked for the end, nobody seems to listen, and what is known is told without them.
pub(crate) const DEAF: Duration = Duration::from_millis(600);

static ASKED_AT: OnceLock<Instant> = OnceLock::new();

static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C raises the flag.
pub(crate) fn install() {
    // Without a handler Ctrl-C just kills the process, which is no reason to refuse work.
    let _ = ctrlc::set_handler(|| {
        if IS_ASKED.swap(true, Ordering::Relaxed) {
            leave(Code::Interrupted);
        }
        let _ = ASKED_AT.set(Instant::now());
        // A phase that does not poll must not keep anyone waiting.
        thread::spawn(|| {
            thread::sleep(PATIENCE);
            leave(Code::Interrupted);
        });
    });
}

/// The flag that Ctrl-C raises.
pub(crate) fn flag() -> &'static AtomicBool {
    &IS_ASKED
}

/// Whether Ctrl-C was pressed.
pub(crate) fn is_asked() -> bool {
    IS_ASKED.load(Ordering::Relaxed)
}

/// How long ago Ctrl-C was pressed.
pub(crate) fn asked_since() -> Option<Duration> {
    ASKED_AT.get().map(Instant::elapsed)
}
