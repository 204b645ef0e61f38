use std::sync::atomic::{AtomicU32, Ordering::*};
static X: AtomicU32 = AtomicU32::new(0);
fn main() { std::thread::spawn(|| { let _ = X.compare_exchange(0, 1, Relaxed, Release); }).join().unwrap(); }
