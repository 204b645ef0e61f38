fn f(a: u32) {}
fn main() { std::thread::spawn(|| { f(); }).join().unwrap(); }
