//! Double-checked initialization.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static LOCK: AtomicI32 = AtomicI32::new(0);
static READY: AtomicI32 = AtomicI32::new(0);
static VALUE: AtomicI32 = AtomicI32::new(0);

fn user(i: i32) {
    if READY.load(Relaxed) == 0 {
        while LOCK.swap(1, Relaxed) == 1 {}
        if READY.load(Relaxed) == 0 {
            VALUE.store(1, Relaxed);
            READY.store(1, Relaxed);
        }
        LOCK.store(0, Relaxed);
    }
    assert!(VALUE.load(Relaxed) == 1);
}

fn main() {
    thread::scope(|s| {
        s.spawn(|| user(0));
        s.spawn(|| user(1));
    });
}
