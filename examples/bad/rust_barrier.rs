fn main() { std::thread::spawn(|| { let b = std::sync::Barrier::new(2); }).join().unwrap(); }
