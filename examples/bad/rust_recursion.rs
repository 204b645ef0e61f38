fn f(n: u32) { f(n - 1); }
fn main() { std::thread::spawn(|| { f(3); }).join().unwrap(); }
