// A lock that spins, around data, for any number of threads.
//
// source: folklore; the same in C is c/any_spinlock.c
// expect sc: safe
// expect tso: safe (stores reach memory in order: the lock is free after the data is there)
// expect pso: safe (the release store waits for the data)

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread;

static LOCK: AtomicBool = AtomicBool::new(false);
static DATA: AtomicU8 = AtomicU8::new(0);

fn worker() {
    loop {
        while LOCK.swap(true, Ordering::Acquire) {
            hint::spin_loop();
        }
        let before = DATA.load(Ordering::Relaxed);
        DATA.store(1 - before, Ordering::Relaxed);
        assert_eq!(DATA.load(Ordering::Relaxed), 1 - before);
        LOCK.store(false, Ordering::Release);
    }
}

fn main() {
    // fencewright: any number
    thread::spawn(worker);
}
