// The owner of a deque pops what a thief may steal: the fence decides who gets the last one.
// source: Chase and Lev, "Dynamic circular work-stealing deque", 2005; Lê et al., 2013
// expect sc: safe
// expect tso: safe
// expect pso: safe

use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::*, fence};
use std::thread;

static TOP: AtomicIsize = AtomicIsize::new(0);
static BOTTOM: AtomicIsize = AtomicIsize::new(1);
static TAKEN: AtomicUsize = AtomicUsize::new(0);

fn pop() -> bool {
    let bottom = BOTTOM.load(Relaxed) - 1;
    BOTTOM.store(bottom, Relaxed);
    fence(SeqCst);
    let top = TOP.load(Relaxed);
    if top < bottom {
        return true;
    }
    let mut is_mine = false;
    if top == bottom {
        is_mine = TOP.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok();
    }
    BOTTOM.store(bottom + 1, Relaxed);
    is_mine
}

fn steal() -> bool {
    let top = TOP.load(Acquire);
    fence(SeqCst);
    let bottom = BOTTOM.load(Acquire);
    top < bottom && TOP.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok()
}

fn main() {
    thread::scope(|s| {
        s.spawn(|| {
            if pop() {
                TAKEN.fetch_add(1, Relaxed);
            }
        });
        s.spawn(|| {
            if steal() {
                TAKEN.fetch_add(1, Relaxed);
            }
        });
    });
    assert_eq!(TAKEN.load(Relaxed), 1);
}
