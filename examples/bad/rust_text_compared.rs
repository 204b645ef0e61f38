fn main() { std::thread::spawn(|| { assert_eq!("a", "b"); }).join().unwrap(); }
