// The receiver does not wait: it reads a message that was never written.
// source: own
// expect sc: unsafe (nothing was written yet)
// expect sc race: unsafe

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::thread;

struct Slot(UnsafeCell<MaybeUninit<u32>>);

unsafe impl Sync for Slot {}

static SLOT: Slot = Slot(UnsafeCell::new(MaybeUninit::uninit()));

fn main() {
    thread::scope(|s| {
        s.spawn(|| unsafe { (*SLOT.0.get()).write(1) });
        s.spawn(|| {
            let found = unsafe { (*SLOT.0.get()).assume_init_read() };
            assert_eq!(found, 1);
        });
    });
}
