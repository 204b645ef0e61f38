// Message passing with a relaxed flag: a race, and wrong where stores are reordered.
// source: the litmus test MP
// expect sc: safe
// expect tso: safe (x86 keeps stores in order)
// expect pso: unsafe (the flag overtakes the data)
// expect sc race: unsafe (a relaxed flag orders nothing)

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static mut DATA: u32 = 0;
static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    thread::scope(|s| {
        s.spawn(|| {
            unsafe { DATA = 42 };
            READY.store(true, Ordering::Relaxed);
        });
        s.spawn(|| {
            if READY.load(Ordering::Relaxed) {
                assert_eq!(unsafe { DATA }, 42);
            }
        });
    });
}
