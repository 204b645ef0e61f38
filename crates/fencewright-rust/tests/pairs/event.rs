//! Somebody who may sleep, and who wakes.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static WORK: AtomicI32 = AtomicI32::new(0);
static ASLEEP: AtomicI32 = AtomicI32::new(0);
static WOKEN: AtomicI32 = AtomicI32::new(0);

fn sleeper() {
    ASLEEP.store(1, Relaxed);
    if WORK.load(Relaxed) == 1 {
        ASLEEP.store(0, Relaxed);
    }
}

fn worker() {
    WORK.store(1, Relaxed);
    if ASLEEP.load(Relaxed) == 1 {
        WOKEN.store(1, Relaxed);
    }
}

fn check() { assert!(!(ASLEEP.load(Relaxed) == 1 && WOKEN.load(Relaxed) == 0)); }

fn main() {
    thread::scope(|s| {
        s.spawn(|| sleeper());
        s.spawn(|| worker());
    });
    check();
}
