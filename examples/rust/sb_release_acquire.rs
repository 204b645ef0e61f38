// Release and acquire are not enough for store buffering.
// source: the litmus test SB
// expect sc: safe
// expect tso: unsafe (a release store waits in the buffer like any other)
// expect pso: unsafe
// fences tso after-stores by source: 1 set of 2 (a fence behind each store)

use std::sync::atomic::{AtomicBool, Ordering::{Acquire, Relaxed, Release}};
use std::thread;

static X: AtomicBool = AtomicBool::new(false);
static Y: AtomicBool = AtomicBool::new(false);
static MISSED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

fn main() {
    thread::scope(|s| {
        s.spawn(|| {
            X.store(true, Release);
            MISSED[0].store(!Y.load(Acquire), Relaxed);
        });
        s.spawn(|| {
            Y.store(true, Release);
            MISSED[1].store(!X.load(Acquire), Relaxed);
        });
    });
    assert!(!MISSED[0].load(Relaxed) || !MISSED[1].load(Relaxed));
}
