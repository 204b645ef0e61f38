// Store buffering with relaxed accesses: both threads may miss what the other one wrote.
// source: the litmus test SB
// expect sc: safe (one store comes first)
// expect tso: unsafe (both loads overtake the stores)
// fences tso after-stores by source: 1 set of 2 (a fence behind each store)

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static X: AtomicBool = AtomicBool::new(false);
static Y: AtomicBool = AtomicBool::new(false);

fn main() {
    let left = thread::spawn(|| {
        X.store(true, Ordering::Relaxed);
        Y.load(Ordering::Relaxed)
    });
    let right = thread::spawn(|| {
        Y.store(true, Ordering::Relaxed);
        X.load(Ordering::Relaxed)
    });
    let seen_by_left = left.join().unwrap();
    let seen_by_right = right.join().unwrap();
    assert!(seen_by_left || seen_by_right);
}
