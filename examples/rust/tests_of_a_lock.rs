// Entries are the tests that create threads, here of a lock that can be tried.
// source: own
// expect sc: safe
// expect tso: safe
// expect sc race: safe

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

pub struct TryLock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

unsafe impl<T> Sync for TryLock<T> {}

impl<T> TryLock<T> {
    pub const fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Runs a function on the value, if nobody else does.
    pub fn try_with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        if self.taken.swap(true, Ordering::Acquire) {
            return None;
        }
        let result = f(unsafe { &mut *self.value.get() });
        self.taken.store(false, Ordering::Release);
        Some(result)
    }
}

fn main() {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn counts_once_or_twice() {
        let lock = TryLock::new(0);
        thread::scope(|s| {
            s.spawn(|| lock.try_with(|it| *it += 1));
            s.spawn(|| lock.try_with(|it| *it += 1));
        });
        let count = lock.try_with(|it| *it).unwrap();
        assert!(count == 1 || count == 2);
    }
}
