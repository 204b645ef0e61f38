static X: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
fn main() { std::thread::spawn(|| { X.load(std::sync::atomic::Ordering::Release); }).join().unwrap(); }
