// A measurement, a float and a text, is handed over by a relaxed flag.
// source: message passing; what is handed over is data as well where nothing is known of its values
// expect tso: safe (stores leave the buffer in order)
// expect tso race: unsafe (a relaxed flag orders nothing)
// expect sc race: unsafe (the same)

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

struct Slot {
    measured: UnsafeCell<f64>,
    unit: UnsafeCell<&'static str>,
    is_ready: AtomicBool,
}

unsafe impl Sync for Slot {}

static SLOT: Slot =
    Slot { measured: UnsafeCell::new(0.0), unit: UnsafeCell::new("none"), is_ready: AtomicBool::new(false) };

fn main() {
    let meter = thread::spawn(|| {
        unsafe { *SLOT.measured.get() = 1.5 };
        unsafe { *SLOT.unit.get() = "m/s" };
        SLOT.is_ready.store(true, Relaxed);
    });
    if SLOT.is_ready.load(Relaxed) {
        let _measured = unsafe { *SLOT.measured.get() };
        assert_eq!(unsafe { *SLOT.unit.get() }, "m/s");
    }
    meter.join().unwrap();
}
