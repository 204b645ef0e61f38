fn main() { std::thread::spawn(|| { let x = undefined_name;  }).join().unwrap(); }
