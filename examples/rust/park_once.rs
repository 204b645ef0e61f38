// A thread parks once and takes waking up for the news: it may wake for no reason.
// source: own; the documentation of `park`
// expect sc: unsafe

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    let waiter = thread::spawn(|| {
        thread::park();
        assert!(READY.load(Ordering::Acquire));
    });
    READY.store(true, Ordering::Release);
    waiter.thread().unpark();
    waiter.join().unwrap();
}
