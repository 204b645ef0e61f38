//! The last task of a deque: its owner and a thief.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static BOTTOM: AtomicI32 = AtomicI32::new(1);
static TOP: AtomicI32 = AtomicI32::new(0);
static TAKEN: AtomicI32 = AtomicI32::new(0);

fn owner() {
    BOTTOM.store(0, Relaxed);
    if TOP.load(Relaxed) == 0 {
        let n = TAKEN.swap(1, Relaxed); assert!(n == 0);
    }
}

fn thief() {
    TOP.store(1, Relaxed);
    if BOTTOM.load(Relaxed) == 1 {
        let n = TAKEN.swap(2, Relaxed); assert!(n == 0);
    }
}

fn main() {
    thread::scope(|s| {
        s.spawn(|| owner());
        s.spawn(|| thief());
    });
}
