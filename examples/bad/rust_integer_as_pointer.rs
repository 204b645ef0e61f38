fn main() { std::thread::spawn(|| { let x = 8 as *const u32; }).join().unwrap(); }
