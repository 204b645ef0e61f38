fn main() { std::thread::spawn(|| { let x = async { 1 }; }).join().unwrap(); }
