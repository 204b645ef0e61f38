//! Two stores each, in opposite order.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static X: AtomicI32 = AtomicI32::new(0);
static Y: AtomicI32 = AtomicI32::new(0);

fn left() {
    X.store(1, Relaxed);
    Y.store(2, Relaxed);
}

fn right() {
    Y.store(1, Relaxed);
    X.store(2, Relaxed);
}

fn check() { assert!(!(X.load(Relaxed) == 1 && Y.load(Relaxed) == 1)); }

fn main() {
    thread::scope(|s| {
        s.spawn(|| left());
        s.spawn(|| right());
    });
    check();
}
