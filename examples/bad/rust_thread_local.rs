fn main() { std::thread::spawn(|| { thread_local! { static X: u32 = 1; } }).join().unwrap(); }
