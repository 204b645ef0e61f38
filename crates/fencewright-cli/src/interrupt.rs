//! Ctrl-C: the first asks, the second insists.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::code::Code;

/// How long the first may take; a second is promised.
const PATIENCE: Duration = Duration::from_millis(900);

static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C raises the flag.
pub fn install() {
    // Without a handler Ctrl-C just kills the process, which is no reason to refuse work.
    let _ = ctrlc::set_handler(|| {
        if IS_ASKED.swap(true, Ordering::Relaxed) {
            leave();
        }
        // A phase that does not poll must not keep anyone waiting.
        thread::spawn(|| {
            thread::sleep(PATIENCE);
            leave();
        });
    });
}

/// The flag that Ctrl-C raises.
pub fn flag() -> &'static AtomicBool {
    &IS_ASKED
}

/// Whether Ctrl-C was pressed.
pub fn is_asked() -> bool {
    IS_ASKED.load(Ordering::Relaxed)
}

#[allow(clippy::exit, reason = "another thread holds the work and does not listen")]
fn leave() -> ! {
    std::process::exit(Code::Interrupted as i32)
}
