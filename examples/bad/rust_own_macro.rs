macro_rules! twice { ($x:expr) => { $x + $x } }
fn main() { std::thread::spawn(|| { let x = twice!(2); }).join().unwrap(); }
