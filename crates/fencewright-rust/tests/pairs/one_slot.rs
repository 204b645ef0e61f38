//! A queue of one slot.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static FULL: AtomicI32 = AtomicI32::new(0);
static SLOT: AtomicI32 = AtomicI32::new(0);

fn producer() {
    while FULL.load(Relaxed) == 1 {}
    SLOT.store(1, Relaxed);
    FULL.store(1, Relaxed);
    while FULL.load(Relaxed) == 1 {}
    SLOT.store(2, Relaxed);
    FULL.store(1, Relaxed);
}

fn consumer() {
    while FULL.load(Relaxed) == 0 {}
    let r = SLOT.load(Relaxed);
    assert!(r == 1);
    FULL.store(0, Relaxed);
    while FULL.load(Relaxed) == 0 {}
    let q = SLOT.load(Relaxed);
    assert!(q == 2);
    FULL.store(0, Relaxed);
}

fn main() {
    thread::scope(|s| {
        s.spawn(|| producer());
        s.spawn(|| consumer());
    });
}
