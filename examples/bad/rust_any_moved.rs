use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

static COUNT: AtomicU8 = AtomicU8::new(1);

struct Share;

impl Drop for Share {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::Release);
    }
}

fn main() {
    let share = Share;
    // fencewright: any number
    thread::spawn(move || drop(share));
}
