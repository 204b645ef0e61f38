use std::sync::atomic::{AtomicU32, Ordering::*};
static X: AtomicU32 = AtomicU32::new(0);
fn main() { std::thread::spawn(|| { let order = 3; X.load(order); }).join().unwrap(); }
