fn main() { std::thread::spawn(|| { std::thread::spawn(|| ()); }).join().unwrap(); }
