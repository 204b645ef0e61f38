fn main() { std::thread::spawn(|| { missing(); }).join().unwrap(); }
