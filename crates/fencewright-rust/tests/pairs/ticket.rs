//! A ticket lock, once for each.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static NEXT: AtomicI32 = AtomicI32::new(0);
static SERVING: AtomicI32 = AtomicI32::new(0);
static CS: AtomicI32 = AtomicI32::new(0);

fn worker(i: i32) {
    let mine = NEXT.fetch_add(1, Relaxed);
    while SERVING.load(Relaxed) != mine {}
    let n = CS.swap(1, Relaxed); assert!(n == 0); CS.store(0, Relaxed);
    SERVING.store(mine + 1, Relaxed);
}

fn main() {
    thread::scope(|s| {
        s.spawn(|| worker(0));
        s.spawn(|| worker(1));
    });
}
