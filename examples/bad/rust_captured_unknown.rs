use std::sync::atomic::{AtomicU32, Ordering::*};
static X: AtomicU32 = AtomicU32::new(0);
fn main() {
    std::thread::spawn(|| X.store(1, Relaxed));
    let n = X.load(Relaxed);
    std::thread::spawn(move || X.store(n, Relaxed));
}
