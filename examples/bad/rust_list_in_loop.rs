fn main() { std::thread::spawn(|| { let mut v = Vec::new(); loop { v.push(1); } }).join().unwrap(); }
