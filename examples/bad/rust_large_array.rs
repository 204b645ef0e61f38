fn main() { std::thread::spawn(|| { let x = [0_u8; 100000]; }).join().unwrap(); }
