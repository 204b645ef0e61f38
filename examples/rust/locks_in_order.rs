// Two mutexes that both threads take in one order; guards are given back in the reverse order.
// source: folklore
// expect sc: safe
// expect sc hang: safe
// expect tso: safe

use std::sync::Mutex;
use std::thread;

static FIRST: Mutex<u32> = Mutex::new(1);
static SECOND: Mutex<u32> = Mutex::new(2);

fn swap() {
    let mut first = FIRST.lock().unwrap();
    let mut second = SECOND.lock().unwrap();
    std::mem::swap(&mut *first, &mut *second);
}

fn main() {
    thread::scope(|s| {
        s.spawn(swap);
        s.spawn(swap);
    });
    assert_eq!(*FIRST.lock().unwrap(), 1);
}
