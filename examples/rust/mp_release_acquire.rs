// Message passing: the flag is released and acquired, so the data is there.
// source: the litmus test MP
// expect sc: safe
// expect tso: safe
// expect pso: safe
// expect sc race: safe

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Channel {
    data: UnsafeCell<u32>,
    ready: AtomicBool,
}

unsafe impl Sync for Channel {}

fn main() {
    let channel = Arc::new(Channel { data: UnsafeCell::new(0), ready: AtomicBool::new(false) });
    let sender = {
        let channel = Arc::clone(&channel);
        thread::spawn(move || {
            unsafe { *channel.data.get() = 42 };
            channel.ready.store(true, Ordering::Release);
        })
    };
    while !channel.ready.load(Ordering::Acquire) {
        std::hint::spin_loop();
    }
    assert_eq!(unsafe { *channel.data.get() }, 42);
    sender.join().unwrap();
}
