//! Store buffering.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static X: AtomicI32 = AtomicI32::new(0);
static Y: AtomicI32 = AtomicI32::new(0);
static A: AtomicI32 = AtomicI32::new(0);
static B: AtomicI32 = AtomicI32::new(0);

fn left() {
    X.store(1, Relaxed);
    A.store(Y.load(Relaxed), Relaxed);
}

fn right() {
    Y.store(1, Relaxed);
    B.store(X.load(Relaxed), Relaxed);
}

fn check() { assert!(!(A.load(Relaxed) == 0 && B.load(Relaxed) == 0)); }

fn main() {
    thread::scope(|s| {
        s.spawn(|| left());
        s.spawn(|| right());
    });
    check();
}
