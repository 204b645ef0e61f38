fn main() { std::thread::spawn(|| { for i in 0.. { } }).join().unwrap(); }
