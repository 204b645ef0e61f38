fn f() { g(); } fn g() { f(); }
fn main() { std::thread::spawn(|| { f(); }).join().unwrap(); }
