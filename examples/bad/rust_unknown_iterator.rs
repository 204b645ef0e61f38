fn main() { std::thread::spawn(|| { for i in 5 { } }).join().unwrap(); }
