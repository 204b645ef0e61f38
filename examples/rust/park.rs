// A thread parks until a flag is set; it looks at the flag again whenever it wakes.
// source: own
// expect sc: safe
// expect tso: safe
// expect sc race: safe

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static READY: AtomicBool = AtomicBool::new(false);
static mut DATA: u32 = 0;

fn main() {
    let waiter = thread::spawn(|| {
        while !READY.load(Ordering::Acquire) {
            thread::park();
        }
        assert_eq!(unsafe { DATA }, 9);
    });
    unsafe { DATA = 9 };
    READY.store(true, Ordering::Release);
    waiter.thread().unpark();
    waiter.join().unwrap();
}
