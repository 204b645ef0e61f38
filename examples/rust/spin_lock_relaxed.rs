// A spin lock whose release is relaxed: a race, and lost updates where stores are reordered.
// source: own
// expect sc: safe
// expect tso: safe (x86 keeps stores in order)
// expect pso: unsafe (the lock is free before the counter is written)
// expect sc race: unsafe (a relaxed store hands nothing over)

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static LOCKED: AtomicBool = AtomicBool::new(false);
static mut COUNT: u32 = 0;

fn count() {
    while LOCKED.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {}
    unsafe { COUNT += 1 };
    LOCKED.store(false, Ordering::Relaxed);
}

fn main() {
    thread::scope(|s| {
        s.spawn(count);
        s.spawn(count);
    });
    assert_eq!(unsafe { COUNT }, 2);
}
