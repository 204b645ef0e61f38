// Store buffering with sequentially consistent accesses, which loom reports as broken.
// source: the litmus test SB; issue 180 of loom
// expect sc: safe (one store comes first)
// expect tso: safe (a SeqCst store leaves the buffer at once)
// expect pso: safe

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static X: AtomicBool = AtomicBool::new(false);
static Y: AtomicBool = AtomicBool::new(false);

fn main() {
    let left = thread::spawn(|| {
        X.store(true, Ordering::SeqCst);
        Y.load(Ordering::SeqCst)
    });
    let right = thread::spawn(|| {
        Y.store(true, Ordering::SeqCst);
        X.load(Ordering::SeqCst)
    });
    let seen_by_left = left.join().unwrap();
    let seen_by_right = right.join().unwrap();
    assert!(seen_by_left || seen_by_right);
}
