static X: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
fn main() {
    std::thread::spawn(|| X.store(true, std::sync::atomic::Ordering::SeqCst));
    if X.load(std::sync::atomic::Ordering::SeqCst) { std::thread::spawn(|| ()); }
}
