//! A hazard pointer and who retires.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static LIVE: AtomicI32 = AtomicI32::new(1);
static HAZARD: AtomicI32 = AtomicI32::new(0);
static GONE: AtomicI32 = AtomicI32::new(0);

fn reader() {
    HAZARD.store(1, Relaxed);
    if LIVE.load(Relaxed) == 1 {
        assert!(GONE.load(Relaxed) == 0);
    }
    HAZARD.store(0, Relaxed);
}

fn owner() {
    LIVE.store(0, Relaxed);
    if HAZARD.load(Relaxed) == 0 {
        GONE.store(1, Relaxed);
    }
}

fn main() {
    thread::scope(|s| {
        s.spawn(|| reader());
        s.spawn(|| owner());
    });
}
