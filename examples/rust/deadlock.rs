// Two mutexes that are taken in opposite order.
// source: folklore
// expect sc: safe
// expect sc hang: unsafe (each waits for the other)

use std::sync::Mutex;
use std::thread;

static FIRST: Mutex<u32> = Mutex::new(0);
static SECOND: Mutex<u32> = Mutex::new(0);

fn main() {
    let forward = thread::spawn(|| {
        let mut first = FIRST.lock().unwrap();
        let second = SECOND.lock().unwrap();
        *first += *second;
    });
    let backward = thread::spawn(|| {
        let mut second = SECOND.lock().unwrap();
        let first = FIRST.lock().unwrap();
        *second += *first;
    });
    forward.join().unwrap();
    backward.join().unwrap();
}
