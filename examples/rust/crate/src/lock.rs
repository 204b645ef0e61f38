//! A spin lock.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Guards a value.
pub struct Lock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// A lock that nobody has.
    pub const fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Runs a function on the value, alone.
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        while self.taken.swap(true, Ordering::Acquire) {
            std::hint::spin_loop();
        }
        let result = f(unsafe { &mut *self.value.get() });
        self.taken.store(false, Ordering::Release);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::Lock;
    use std::thread;

    #[test]
    fn counts_to_two() {
        let lock = Lock::new(0);
        thread::scope(|s| {
            s.spawn(|| lock.with(|it| *it += 1));
            s.spawn(|| lock.with(|it| *it += 1));
        });
        assert_eq!(lock.with(|it| *it), 2);
    }
}
