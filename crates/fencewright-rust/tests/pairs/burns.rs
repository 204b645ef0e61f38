//! Burns for two threads.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static FLAG: [AtomicI32; 2] = [AtomicI32::new(0), AtomicI32::new(0)];
static CS: AtomicI32 = AtomicI32::new(0);

fn first() {
    FLAG[0].store(1, Relaxed);
    while FLAG[1].load(Relaxed) == 1 {}
    let n = CS.swap(1, Relaxed); assert!(n == 0); CS.store(0, Relaxed);
    FLAG[0].store(0, Relaxed);
}

fn second() {
    loop {
        FLAG[1].store(0, Relaxed);
        if FLAG[0].load(Relaxed) == 0 {
            FLAG[1].store(1, Relaxed);
            if FLAG[0].load(Relaxed) == 0 {
                break;
            }
        }
    }
    let n = CS.swap(1, Relaxed); assert!(n == 0); CS.store(0, Relaxed);
    FLAG[1].store(0, Relaxed);
}

fn main() {
    thread::scope(|s| {
        s.spawn(|| first());
        s.spawn(|| second());
    });
}
