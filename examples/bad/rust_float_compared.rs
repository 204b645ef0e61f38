fn main() { std::thread::spawn(|| { assert_eq!(1.5, 2.5); }).join().unwrap(); }
