mod missing;
fn main() { std::thread::spawn(|| {  }).join().unwrap(); }
