//! A writer, a reader and store buffering.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static X: AtomicI32 = AtomicI32::new(0);
static Y: AtomicI32 = AtomicI32::new(0);
static Z: AtomicI32 = AtomicI32::new(0);
static A: AtomicI32 = AtomicI32::new(0);
static B: AtomicI32 = AtomicI32::new(0);

fn one() {
    X.store(1, Relaxed);
    Z.store(1, Relaxed);
}

fn two() {
    if Z.load(Relaxed) == 1 {
        A.store(1, Relaxed);
    }
    B.store(Y.load(Relaxed), Relaxed);
}

fn three() {
    Y.store(1, Relaxed);
    if X.load(Relaxed) == 0 {
        Y.store(0, Relaxed);
    }
}

fn check() { assert!(!(A.load(Relaxed) == 1 && B.load(Relaxed) == 0 && Y.load(Relaxed) == 0)); }

fn main() {
    thread::scope(|s| {
        s.spawn(|| one());
        s.spawn(|| two());
        s.spawn(|| three());
    });
    check();
}
