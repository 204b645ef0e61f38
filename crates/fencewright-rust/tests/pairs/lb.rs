//! Load buffering, which store buffers do not show.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static X: AtomicI32 = AtomicI32::new(0);
static Y: AtomicI32 = AtomicI32::new(0);
static A: AtomicI32 = AtomicI32::new(0);
static B: AtomicI32 = AtomicI32::new(0);

fn left() {
    A.store(X.load(Relaxed), Relaxed);
    Y.store(1, Relaxed);
}

fn right() {
    B.store(Y.load(Relaxed), Relaxed);
    X.store(1, Relaxed);
}

fn check() { assert!(!(A.load(Relaxed) == 1 && B.load(Relaxed) == 1)); }

fn main() {
    thread::scope(|s| {
        s.spawn(|| left());
        s.spawn(|| right());
    });
    check();
}
