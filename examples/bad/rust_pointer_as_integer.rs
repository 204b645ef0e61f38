static X: u32 = 1;
fn main() { std::thread::spawn(|| { let x = &X as *const u32 as usize; }).join().unwrap(); }
