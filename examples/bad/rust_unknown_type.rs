fn main() { std::thread::spawn(|| { let x = Missing { a: 1 }; }).join().unwrap(); }
