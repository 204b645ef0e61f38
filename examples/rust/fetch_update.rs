// A counter that stops at its limit, by `fetch_update`.
// source: own
// expect sc: safe
// expect tso: safe

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static LEFT: AtomicU32 = AtomicU32::new(1);

fn take() -> bool {
    LEFT.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}

fn main() {
    let first = thread::spawn(take);
    let second = thread::spawn(take);
    let (first, second) = (first.join().unwrap(), second.join().unwrap());
    assert!(first != second);
}
