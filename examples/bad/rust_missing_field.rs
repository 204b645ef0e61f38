struct Pair { a: u32, b: u32 }
fn main() { std::thread::spawn(|| { let x = Pair { a: 1 }; }).join().unwrap(); }
