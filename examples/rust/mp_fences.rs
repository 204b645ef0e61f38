// Message passing with relaxed accesses and fences around them.
// source: the litmus test MP
// expect sc: safe
// expect tso: safe
// expect pso: safe
// expect sc race: safe

use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::thread;

static mut DATA: u32 = 0;
static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    let sender = thread::spawn(|| {
        unsafe { DATA = 7 };
        fence(Ordering::Release);
        READY.store(true, Ordering::Relaxed);
    });
    let receiver = thread::spawn(|| {
        if READY.load(Ordering::Relaxed) {
            fence(Ordering::Acquire);
            assert_eq!(unsafe { DATA }, 7);
        }
    });
    sender.join().unwrap();
    receiver.join().unwrap();
}
