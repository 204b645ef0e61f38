// A lazy value behind a relaxed flag: who sees the flag need not see the value.
// source: Meyers and Alexandrescu, "C++ and the perils of double-checked locking", 2004
// expect sc: safe
// expect tso: safe
// expect pso: unsafe
// expect sc race: unsafe

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static READY: AtomicBool = AtomicBool::new(false);
static LOCK: Mutex<()> = Mutex::new(());
static mut VALUE: u32 = 0;

fn get() -> u32 {
    if !READY.load(Ordering::Relaxed) {
        let _guard = LOCK.lock().unwrap();
        if !READY.load(Ordering::Relaxed) {
            unsafe { VALUE = 3 };
            READY.store(true, Ordering::Relaxed);
        }
    }
    unsafe { VALUE }
}

fn main() {
    thread::scope(|s| {
        s.spawn(|| assert_eq!(get(), 3));
        s.spawn(|| assert_eq!(get(), 3));
    });
}
