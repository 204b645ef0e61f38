// A counter in a mutex of std.
// source: own
// expect sc: safe
// expect tso: safe
// expect pso: safe
// expect sc race: safe

use std::sync::Mutex;
use std::thread;

static COUNTER: Mutex<i32> = Mutex::new(0);

fn main() {
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| *COUNTER.lock().unwrap() += 1);
        }
    });
    assert_eq!(*COUNTER.lock().unwrap(), 2);
}
