//! Store buffering around three threads.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static X: AtomicI32 = AtomicI32::new(0);
static Y: AtomicI32 = AtomicI32::new(0);
static Z: AtomicI32 = AtomicI32::new(0);
static A: AtomicI32 = AtomicI32::new(0);
static B: AtomicI32 = AtomicI32::new(0);
static C: AtomicI32 = AtomicI32::new(0);

fn one() {
    X.store(1, Relaxed);
    A.store(Y.load(Relaxed), Relaxed);
}

fn two() {
    Y.store(1, Relaxed);
    B.store(Z.load(Relaxed), Relaxed);
}

fn three() {
    Z.store(1, Relaxed);
    C.store(X.load(Relaxed), Relaxed);
}

fn check() { assert!(!(A.load(Relaxed) == 0 && B.load(Relaxed) == 0 && C.load(Relaxed) == 0)); }

fn main() {
    thread::scope(|s| {
        s.spawn(|| one());
        s.spawn(|| two());
        s.spawn(|| three());
    });
    check();
}
