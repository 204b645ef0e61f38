//! Message passing behind a store fence.

use std::sync::atomic::{AtomicI32, Ordering::{Relaxed, Release}, fence};
use std::thread;

static DATA: AtomicI32 = AtomicI32::new(0);
static FLAG: AtomicI32 = AtomicI32::new(0);

fn sender() {
    DATA.store(1, Relaxed);
    fence(Release);
    FLAG.store(1, Relaxed);
}

fn receiver() {
    if FLAG.load(Relaxed) == 1 {
        assert!(DATA.load(Relaxed) == 1);
    }
}

fn main() {
    thread::scope(|s| {
        s.spawn(|| sender());
        s.spawn(|| receiver());
    });
}
