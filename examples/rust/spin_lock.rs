// A spin lock with a guard that gives it back when it is dropped.
// source: folklore; the shape of chapter 4 of "Rust Atomics and Locks"
// expect sc: safe (whoever swaps false out has the lock)
// expect tso: safe
// expect pso: safe (the release store waits for what was written before)
// expect sc race: safe

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering::{Acquire, Release}};
use std::thread;

pub struct SpinLock<T> {
    locked: AtomicBool,
    value: UnsafeCell<T>,
}

unsafe impl<T> Sync for SpinLock<T> where T: Send {}

pub struct Guard<'a, T> {
    lock: &'a SpinLock<T>,
}

impl<T> SpinLock<T> {
    pub const fn new(value: T) -> Self {
        Self { locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    pub fn lock(&self) -> Guard<'_, T> {
        while self.locked.swap(true, Acquire) {
            std::hint::spin_loop();
        }
        Guard { lock: self }
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.lock.locked.store(false, Release);
    }
}

fn main() {
    let counter = SpinLock::new(0);
    thread::scope(|s| {
        s.spawn(|| *counter.lock() += 1);
        s.spawn(|| {
            let mut guard = counter.lock();
            *guard += 1;
        });
    });
    assert_eq!(*counter.lock(), 2);
}
