fn main() { std::thread::spawn(|| { let mut s = String::new(); s.push('a'); assert_eq!(s, "a"); }).join().unwrap(); }
