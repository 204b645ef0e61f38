use std::sync::atomic::{AtomicBool, Ordering::*};
static X: AtomicBool = AtomicBool::new(false);
fn main() { std::thread::spawn(|| { let f: fn() = if X.load(Relaxed) { || () } else { || () }; f(); }).join().unwrap(); }
