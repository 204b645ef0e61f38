fn main() { std::thread::spawn(|| { match (1, 2) { (a, 1) | (1, a) => (), _ => () } }).join().unwrap(); }
