fn main() { std::thread::spawn(|| { let (a, b) = std::sync::mpsc::channel::<u32>(); }).join().unwrap(); }
