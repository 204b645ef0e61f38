struct Pair { a: u32 }
static P: Pair = Pair { a: 1 };
fn main() { std::thread::spawn(|| { let x = P.b; }).join().unwrap(); }
