// What is set up once: whoever comes first does it, the others wait.
// source: own
// expect sc: safe
// expect tso: safe
// expect pso: safe
// expect sc race: safe

use std::sync::atomic::{AtomicU8, Ordering::{Acquire, Relaxed, Release}};
use std::thread;

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum State {
    New,
    Running,
    Done,
}

static STATE: AtomicU8 = AtomicU8::new(State::New as u8);
static mut VALUE: u32 = 0;

fn get() -> u32 {
    if STATE.load(Acquire) != State::Done as u8 {
        match STATE.compare_exchange(State::New as u8, State::Running as u8, Relaxed, Relaxed) {
            Ok(_) => {
                unsafe { VALUE = 5 };
                STATE.store(State::Done as u8, Release);
            }
            Err(_) => while STATE.load(Acquire) != State::Done as u8 {},
        }
    }
    unsafe { VALUE }
}

fn main() {
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| assert_eq!(get(), 5));
        }
    });
}
