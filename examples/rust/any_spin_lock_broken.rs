// A lock that is looked at and taken in two steps, for any number of threads.
//
// source: folklore
// expect sc: unsafe (two copies see that it is free)
// expect tso: unsafe (as under SC)
// expect pso: unsafe (as under SC)

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static LOCK: AtomicBool = AtomicBool::new(false);
static INSIDE: AtomicBool = AtomicBool::new(false);

fn main() {
    // fencewright: any number
    thread::spawn(|| {
        loop {
            while LOCK.load(Ordering::Acquire) {}
            LOCK.store(true, Ordering::Relaxed);
            assert!(!INSIDE.swap(true, Ordering::Relaxed));
            INSIDE.store(false, Ordering::Relaxed);
            LOCK.store(false, Ordering::Release);
        }
    });
}
