//! Flags that are tried again and again.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static FLAG: [AtomicI32; 2] = [AtomicI32::new(0), AtomicI32::new(0)];
static CS: AtomicI32 = AtomicI32::new(0);

fn worker(i: i32) {
    loop {
        FLAG[i as usize].store(1, Relaxed);
        if FLAG[(1 - i) as usize].load(Relaxed) == 0 {
            let n = CS.swap(1, Relaxed); assert!(n == 0); CS.store(0, Relaxed);
        }
        FLAG[i as usize].store(0, Relaxed);
    }
}

fn main() {
    thread::scope(|s| {
        s.spawn(|| worker(0));
        s.spawn(|| worker(1));
    });
}
