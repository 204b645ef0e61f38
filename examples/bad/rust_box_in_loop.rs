fn main() { std::thread::spawn(|| { loop { let x = Box::new(1); } }).join().unwrap(); }
