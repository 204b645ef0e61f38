// Peterson's lock with relaxed accesses: both threads get in.
// source: Peterson, "Myths about the mutual exclusion problem", 1981
// expect sc: safe
// expect tso: unsafe (the load of the other flag overtakes the own store)
// expect pso: unsafe
// fences tso after-stores by source: 1 set of 1 (behind the store to TURN)

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;

static FLAG: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
static TURN: AtomicUsize = AtomicUsize::new(0);
static INSIDE: AtomicUsize = AtomicUsize::new(0);

fn enter(i: usize) {
    FLAG[i].store(true, Relaxed);
    TURN.store(1 - i, Relaxed);
    while FLAG[1 - i].load(Relaxed) && TURN.load(Relaxed) == 1 - i {}
    assert_eq!(INSIDE.load(Relaxed), 0);
    INSIDE.store(1, Relaxed);
    INSIDE.store(0, Relaxed);
    FLAG[i].store(false, Relaxed);
}

fn main() {
    thread::scope(|s| {
        for i in 0..2 {
            s.spawn(move || enter(i));
        }
    });
}
