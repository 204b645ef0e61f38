// A box is handed over by a pointer that is swapped out: only one thread frees it.
// source: own
// expect sc: safe
// expect tso: safe
// expect sc race: safe

use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;

static SLOT: AtomicPtr<u32> = AtomicPtr::new(std::ptr::null_mut());

fn take() -> Option<u32> {
    let found = SLOT.swap(std::ptr::null_mut(), Ordering::Acquire);
    if found.is_null() {
        return None;
    }
    let owned = unsafe { Box::from_raw(found) };
    Some(*owned)
}

fn main() {
    SLOT.store(Box::into_raw(Box::new(6)), Ordering::Release);
    let first = thread::spawn(take);
    let second = thread::spawn(take);
    let (first, second) = (first.join().unwrap(), second.join().unwrap());
    assert!(first.is_some() != second.is_some());
}
