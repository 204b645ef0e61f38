// Store buffering with a fence between the store and the load of each thread.
// source: the litmus test SB
// expect sc: safe
// expect tso: safe
// expect pso: safe

use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::thread;

static X: AtomicBool = AtomicBool::new(false);
static Y: AtomicBool = AtomicBool::new(false);

fn main() {
    let left = thread::spawn(|| {
        X.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        Y.load(Ordering::Relaxed)
    });
    let right = thread::spawn(|| {
        Y.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        X.load(Ordering::Relaxed)
    });
    let (left, right) = (left.join().unwrap(), right.join().unwrap());
    assert!(left || right);
}
