use std::sync::Mutex;
static PLACE: Mutex<()> = Mutex::new(());
fn main() {
    std::thread::spawn(|| *PLACE.lock().unwrap() = Some(4)).join().unwrap();
}
