use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

static COUNT: AtomicU8 = AtomicU8::new(0);

fn main() {
    // fencewright: any number
    let all = thread::spawn(|| COUNT.store(1, Ordering::Relaxed));
    all.join().unwrap();
    assert_eq!(COUNT.load(Ordering::Relaxed), 1);
}
