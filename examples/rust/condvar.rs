// A queue of one place with a condition variable: who waits looks again.
// source: own
// expect sc: safe
// expect tso: safe
// expect sc race: safe

use std::sync::{Condvar, Mutex};
use std::thread;

static PLACE: Mutex<Option<u32>> = Mutex::new(None);
static FULL: Condvar = Condvar::new();

fn main() {
    thread::scope(|s| {
        s.spawn(|| {
            *PLACE.lock().unwrap() = Some(4);
            FULL.notify_one();
        });
        s.spawn(|| {
            let mut place = PLACE.lock().unwrap();
            while place.is_none() {
                place = FULL.wait(place).unwrap();
            }
            assert_eq!(place.take(), Some(4));
        });
    });
}
