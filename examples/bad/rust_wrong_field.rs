struct Pair { a: u32 }
fn main() { std::thread::spawn(|| { let x = Pair { c: 1 }; }).join().unwrap(); }
