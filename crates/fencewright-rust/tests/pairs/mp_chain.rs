//! A message that is passed on.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static DATA: AtomicI32 = AtomicI32::new(0);
static FIRST: AtomicI32 = AtomicI32::new(0);
static SECOND: AtomicI32 = AtomicI32::new(0);

fn sender() {
    DATA.store(1, Relaxed);
    FIRST.store(1, Relaxed);
}

fn between() {
    if FIRST.load(Relaxed) == 1 {
        SECOND.store(1, Relaxed);
    }
}

fn receiver() {
    if SECOND.load(Relaxed) == 1 {
        assert!(DATA.load(Relaxed) == 1);
    }
}

fn main() {
    thread::scope(|s| {
        s.spawn(|| sender());
        s.spawn(|| between());
        s.spawn(|| receiver());
    });
}
