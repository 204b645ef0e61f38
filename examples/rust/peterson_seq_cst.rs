// Peterson's lock with sequentially consistent accesses.
// source: Peterson, "Myths about the mutual exclusion problem", 1981
// expect sc: safe
// expect tso: safe
// expect pso: safe

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

static FLAG: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
static TURN: AtomicUsize = AtomicUsize::new(0);
static INSIDE: AtomicUsize = AtomicUsize::new(0);

fn enter(i: usize) {
    FLAG[i].store(true, SeqCst);
    TURN.store(1 - i, SeqCst);
    while FLAG[1 - i].load(SeqCst) && TURN.load(SeqCst) == 1 - i {}
    assert_eq!(INSIDE.load(SeqCst), 0);
    INSIDE.store(1, SeqCst);
    INSIDE.store(0, SeqCst);
    FLAG[i].store(false, SeqCst);
}

fn main() {
    thread::scope(|s| {
        for i in 0..2 {
            s.spawn(move || enter(i));
        }
    });
}
