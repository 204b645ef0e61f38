// The box is freed while the other thread may still read it.
// source: own
// expect sc: unsafe (use after free)

use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;

static SLOT: AtomicPtr<u32> = AtomicPtr::new(std::ptr::null_mut());

fn main() {
    SLOT.store(Box::into_raw(Box::new(1)), Ordering::Release);
    thread::scope(|s| {
        s.spawn(|| {
            let found = SLOT.load(Ordering::Acquire);
            if !found.is_null() {
                assert_eq!(unsafe { *found }, 1);
            }
        });
        s.spawn(|| {
            let old = SLOT.swap(std::ptr::null_mut(), Ordering::AcqRel);
            drop(unsafe { Box::from_raw(old) });
        });
    });
}
