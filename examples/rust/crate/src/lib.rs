//! A lock and a slot, with tests that create threads.

pub mod lock;

use std::sync::atomic::{AtomicU32, Ordering};

/// Something that is given once, and taken once.
pub struct Slot {
    value: AtomicU32,
}

impl Slot {
    /// Nothing so far.
    pub const fn new() -> Self {
        Self { value: AtomicU32::new(0) }
    }

    /// Puts a value there, which is not 0.
    pub fn give(&self, value: u32) {
        self.value.store(value, Ordering::Release);
    }

    /// Takes what is there.
    pub fn take(&self) -> Option<u32> {
        match self.value.swap(0, Ordering::Acquire) {
            0 => None,
            value => Some(value),
        }
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::new()
    }
}
