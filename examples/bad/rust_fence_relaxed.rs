fn main() { std::thread::spawn(|| { std::sync::atomic::fence(std::sync::atomic::Ordering::Relaxed); }).join().unwrap(); }
