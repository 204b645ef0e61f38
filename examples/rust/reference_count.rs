// A reference count: the last one frees, and nobody else uses it then.
// source: the shape of chapter 6 of "Rust Atomics and Locks"
// expect sc: safe
// expect tso: safe
// expect pso: safe
// expect sc race: safe

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::{Acquire, Relaxed, Release}, fence};
use std::thread;

struct Inner {
    count: AtomicUsize,
    data: u32,
}

struct Shared {
    inner: NonNull<Inner>,
}

unsafe impl Send for Shared {}

impl Shared {
    fn new(data: u32) -> Self {
        Self { inner: NonNull::from(Box::leak(Box::new(Inner { count: AtomicUsize::new(1), data }))) }
    }

    fn get(&self) -> u32 {
        unsafe { self.inner.as_ref().data }
    }
}

impl Clone for Shared {
    fn clone(&self) -> Self {
        unsafe { self.inner.as_ref().count.fetch_add(1, Relaxed) };
        Self { inner: self.inner }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if unsafe { self.inner.as_ref().count.fetch_sub(1, Release) } == 1 {
            fence(Acquire);
            drop(unsafe { Box::from_raw(self.inner.as_ptr()) });
        }
    }
}

fn main() {
    let first = Shared::new(8);
    let second = first.clone();
    let thread = thread::spawn(move || assert_eq!(second.get(), 8));
    assert_eq!(first.get(), 8);
    drop(first);
    thread.join().unwrap();
}
