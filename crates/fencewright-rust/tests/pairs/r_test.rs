//! The litmus test R.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static X: AtomicI32 = AtomicI32::new(0);
static Y: AtomicI32 = AtomicI32::new(0);
static A: AtomicI32 = AtomicI32::new(0);

fn left() {
    X.store(1, Relaxed);
    Y.store(1, Relaxed);
}

fn right() {
    Y.store(2, Relaxed);
    A.store(X.load(Relaxed), Relaxed);
}

fn check() { assert!(!(Y.load(Relaxed) == 2 && A.load(Relaxed) == 0)); }

fn main() {
    thread::scope(|s| {
        s.spawn(|| left());
        s.spawn(|| right());
    });
    check();
}
