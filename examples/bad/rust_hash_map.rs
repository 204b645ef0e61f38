fn main() { std::thread::spawn(|| { let m = std::collections::HashMap::<u32, u32>::new(); }).join().unwrap(); }
