//! Message passing.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

static DATA: AtomicI32 = AtomicI32::new(0);
static FLAG: AtomicI32 = AtomicI32::new(0);

fn sender() {
    DATA.store(1, Relaxed);
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
