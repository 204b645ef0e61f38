// A lock around a cell that is not atomic, for any number of threads.
//
// source: Bos, Rust Atomics and Locks, 2023, chapter 4
// expect sc: safe
// expect tso: safe
// expect pso: safe (the release store waits for the data)
// expect sc race: safe (who takes the lock acquires what the one before released)
// expect tso race: safe
// expect pso race: safe

use std::cell::UnsafeCell;
use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Lock {
    held: AtomicBool,
    data: UnsafeCell<u8>,
}

unsafe impl Sync for Lock {}

fn main() {
    let lock = Arc::new(Lock { held: AtomicBool::new(false), data: UnsafeCell::new(0) });
    // fencewright: any number
    thread::spawn(move || {
        while lock.held.swap(true, Ordering::Acquire) {
            hint::spin_loop();
        }
        unsafe { *lock.data.get() = 1 };
        assert_eq!(unsafe { *lock.data.get() }, 1);
        unsafe { *lock.data.get() = 0 };
        lock.held.store(false, Ordering::Release);
    });
}
