//! A sequence lock.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static SEQ: AtomicI32 = AtomicI32::new(0);
static X: AtomicI32 = AtomicI32::new(0);
static Y: AtomicI32 = AtomicI32::new(0);

fn writer() {
    SEQ.store(1, Relaxed);
    X.store(1, Relaxed);
    Y.store(1, Relaxed);
    SEQ.store(2, Relaxed);
}

fn reader() {
    let s = SEQ.load(Relaxed);
    let r = X.load(Relaxed);
    let q = Y.load(Relaxed);
    if s == SEQ.load(Relaxed) && (s == 0 || s == 2) {
        assert!(r == q);
    }
}

fn main() {
    thread::scope(|s| {
        s.spawn(|| writer());
        s.spawn(|| reader());
    });
}
