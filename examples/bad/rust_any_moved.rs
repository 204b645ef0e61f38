use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

fn main() {
    let count = Arc::new(AtomicU8::new(0));
    // fencewright: any number
    thread::spawn(move || count.store(1, Ordering::Relaxed));
}
