// A barrier by a counter: nobody goes on before everybody came.
// source: own
// expect sc: safe
// expect tso: safe
// expect pso: safe
// expect sc race: safe

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static ARRIVED: AtomicUsize = AtomicUsize::new(0);
static mut HALVES: [u32; 2] = [0; 2];

fn work(me: usize) {
    unsafe { HALVES[me] = 1 };
    ARRIVED.fetch_add(1, Ordering::AcqRel);
    while ARRIVED.load(Ordering::Acquire) < 2 {}
    assert_eq!(unsafe { HALVES[1 - me] }, 1);
}

fn main() {
    thread::scope(|s| {
        for me in 0..2 {
            s.spawn(move || work(me));
        }
    });
}
