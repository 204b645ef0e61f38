//! Peterson, one thread behind a fence.

use std::sync::atomic::{AtomicI32, Ordering::{Relaxed, SeqCst}, fence};
use std::thread;

static FLAG: [AtomicI32; 2] = [AtomicI32::new(0), AtomicI32::new(0)];
static TURN: AtomicI32 = AtomicI32::new(0);
static CS: AtomicI32 = AtomicI32::new(0);

fn left() {
    FLAG[0].store(1, Relaxed);
    TURN.store(1, Relaxed);
    fence(SeqCst);
    while FLAG[1].load(Relaxed) == 1 && TURN.load(Relaxed) == 1 {}
    let n = CS.swap(1, Relaxed); assert!(n == 0); CS.store(0, Relaxed);
    FLAG[0].store(0, Relaxed);
}

fn right() {
    FLAG[1].store(1, Relaxed);
    TURN.store(0, Relaxed);
    while FLAG[0].load(Relaxed) == 1 && TURN.load(Relaxed) == 0 {}
    let n = CS.swap(1, Relaxed); assert!(n == 0); CS.store(0, Relaxed);
    FLAG[1].store(0, Relaxed);
}

fn main() {
    thread::scope(|s| {
        s.spawn(|| left());
        s.spawn(|| right());
    });
}
