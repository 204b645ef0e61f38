//! A lock that is looked at and then taken.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static LOCK: AtomicI32 = AtomicI32::new(0);
static CS: AtomicI32 = AtomicI32::new(0);

fn worker(i: i32) {
    while LOCK.load(Relaxed) == 1 {}
    LOCK.store(1, Relaxed);
    let n = CS.swap(1, Relaxed); assert!(n == 0); CS.store(0, Relaxed);
    LOCK.store(0, Relaxed);
}

fn main() {
    thread::scope(|s| {
        s.spawn(|| worker(0));
        s.spawn(|| worker(1));
    });
}
