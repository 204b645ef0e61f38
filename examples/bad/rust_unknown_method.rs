static X: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
fn main() { std::thread::spawn(|| { X.fetch_nand(1, std::sync::atomic::Ordering::Relaxed); }).join().unwrap(); }
