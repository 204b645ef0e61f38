//! The litmus test S.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static X: AtomicI32 = AtomicI32::new(0);
static Y: AtomicI32 = AtomicI32::new(0);
static A: AtomicI32 = AtomicI32::new(0);

fn left() {
    X.store(2, Relaxed);
    Y.store(1, Relaxed);
}

fn right() {
    A.store(Y.load(Relaxed), Relaxed);
    X.store(1, Relaxed);
}

fn check() { assert!(!(A.load(Relaxed) == 1 && X.load(Relaxed) == 2)); }

fn main() {
    thread::scope(|s| {
        s.spawn(|| left());
        s.spawn(|| right());
    });
    check();
}
