fn main() { for _ in 0..20 { std::thread::spawn(|| ()); } }
