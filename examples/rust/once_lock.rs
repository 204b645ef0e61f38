// `OnceLock` of std: both threads see the same value.
// source: own
// expect sc: safe
// expect tso: safe
// expect sc race: safe

use std::sync::OnceLock;
use std::thread;

static VALUE: OnceLock<u32> = OnceLock::new();

fn main() {
    let left = thread::spawn(|| *VALUE.get_or_init(|| 1));
    let right = thread::spawn(|| *VALUE.get_or_init(|| 2));
    assert_eq!(left.join().unwrap(), right.join().unwrap());
}
