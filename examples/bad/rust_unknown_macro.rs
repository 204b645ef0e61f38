fn main() { std::thread::spawn(|| { magic!(2); }).join().unwrap(); }
