// A load and a store are no update: one of two counts is lost.
// source: folklore
// expect sc: unsafe

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

static COUNT: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let threads: Vec<_> = (0..2).map(|_| thread::spawn(|| COUNT.store(COUNT.load(SeqCst) + 1, SeqCst))).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(COUNT.load(SeqCst), 2);
}
