//! Two readers of two independent writers.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static X: AtomicI32 = AtomicI32::new(0);
static Y: AtomicI32 = AtomicI32::new(0);
static A: AtomicI32 = AtomicI32::new(0);
static B: AtomicI32 = AtomicI32::new(0);
static C: AtomicI32 = AtomicI32::new(0);
static D: AtomicI32 = AtomicI32::new(0);

fn one() {
    X.store(1, Relaxed);
}

fn two() {
    Y.store(1, Relaxed);
}

fn three() {
    A.store(X.load(Relaxed), Relaxed);
    B.store(Y.load(Relaxed), Relaxed);
}

fn four() {
    C.store(Y.load(Relaxed), Relaxed);
    D.store(X.load(Relaxed), Relaxed);
}

fn check() { assert!(!(A.load(Relaxed) == 1 && B.load(Relaxed) == 0 && C.load(Relaxed) == 1 && D.load(Relaxed) == 0)); }

fn main() {
    thread::scope(|s| {
        s.spawn(|| one());
        s.spawn(|| two());
        s.spawn(|| three());
        s.spawn(|| four());
    });
    check();
}
