fn main() { std::thread::spawn(|| { let x = std::sync::Arc::new(1); std::sync::Arc::try_unwrap(x); }).join().unwrap(); }
