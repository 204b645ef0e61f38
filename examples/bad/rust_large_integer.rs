fn main() { std::thread::spawn(|| { let x = 170141183460469231731687303715884105728; }).join().unwrap(); }
