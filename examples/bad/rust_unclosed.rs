fn main() { std::thread::spawn(|| ();
