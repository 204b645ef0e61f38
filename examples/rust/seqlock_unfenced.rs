// A sequence lock without the fence behind the first count: halves of two writes are read.
// source: Boehm, "Can seqlocks get along with programming language memory models?", 2012
// expect sc: safe
// expect tso: safe
// expect pso: unsafe (the data overtakes the count)

use std::sync::atomic::{AtomicU32, Ordering::{Acquire, Relaxed, Release}, fence};
use std::thread;

static SEQUENCE: AtomicU32 = AtomicU32::new(0);
static LEFT: AtomicU32 = AtomicU32::new(0);
static RIGHT: AtomicU32 = AtomicU32::new(0);

fn write(value: u32) {
    let sequence = SEQUENCE.load(Relaxed);
    SEQUENCE.store(sequence + 1, Relaxed);
    LEFT.store(value, Relaxed);
    RIGHT.store(value, Relaxed);
    SEQUENCE.store(sequence + 2, Release);
}

fn read() -> Option<(u32, u32)> {
    let before = SEQUENCE.load(Acquire);
    if before % 2 == 1 {
        return None;
    }
    let pair = (LEFT.load(Relaxed), RIGHT.load(Relaxed));
    fence(Acquire);
    if SEQUENCE.load(Relaxed) == before { Some(pair) } else { None }
}

fn main() {
    let writer = thread::spawn(|| {
        write(1);
        write(2);
    });
    let reader = thread::spawn(|| {
        if let Some((left, right)) = read() {
            assert_eq!(left, right);
        }
    });
    writer.join().unwrap();
    reader.join().unwrap();
}
