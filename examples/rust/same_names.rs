// Two functions with a structure of the same name: each means its own, so the counter here is not atomic.
// source: written for this; names of items in functions are theirs alone
// expect sc: unsafe (a lost update)
// expect tso: unsafe
// expect sc race: unsafe

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

fn atomically() -> u32 {
    struct Counter {
        n: AtomicU32,
    }
    let counter = Counter { n: AtomicU32::new(0) };
    counter.n.fetch_add(1, Ordering::Relaxed);
    counter.n.load(Ordering::Relaxed)
}

fn main() {
    struct Counter {
        n: UnsafeCell<u32>,
    }
    unsafe impl Sync for Counter {}
    impl Counter {
        fn increment(&self) {
            unsafe { *self.n.get() += 1 }
        }
    }
    let counter = Counter { n: UnsafeCell::new(0) };
    assert_eq!(atomically(), 1);
    thread::scope(|s| {
        s.spawn(|| counter.increment());
        s.spawn(|| counter.increment());
    });
    assert_eq!(counter.n.into_inner(), 2);
}
