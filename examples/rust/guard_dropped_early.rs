// The guard is a temporary, so the lock is free before the counter is written back: an update is lost.
// source: own
// expect sc: unsafe (both read the same number)
// expect sc race: safe

use std::sync::Mutex;
use std::thread;

static COUNTER: Mutex<i32> = Mutex::new(0);

fn count() {
    let seen = *COUNTER.lock().unwrap();
    *COUNTER.lock().unwrap() = seen + 1;
}

fn main() {
    thread::scope(|s| {
        s.spawn(count);
        s.spawn(count);
    });
    assert_eq!(*COUNTER.lock().unwrap(), 2);
}
