// fencewright: check
fn f(n: u32) { std::thread::spawn(|| ()); }
