static X: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
fn main() { std::thread::spawn(|| { X.store(1, std::sync::atomic::Ordering::Acquire); }).join().unwrap(); }
