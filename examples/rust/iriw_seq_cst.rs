// Two writers, two readers: with SeqCst the readers agree on which write came first.
// source: the litmus test IRIW
// expect sc: safe
// expect tso: safe
// expect pso: safe

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

static X: AtomicBool = AtomicBool::new(false);
static Y: AtomicBool = AtomicBool::new(false);

fn main() {
    let writers = [thread::spawn(|| X.store(true, SeqCst)), thread::spawn(|| Y.store(true, SeqCst))];
    let first = thread::spawn(|| (X.load(SeqCst), Y.load(SeqCst)));
    let second = thread::spawn(|| (Y.load(SeqCst), X.load(SeqCst)));
    for writer in writers {
        writer.join().unwrap();
    }
    let (first, second) = (first.join().unwrap(), second.join().unwrap());
    assert!(!(first == (true, false) && second == (true, false)));
}
