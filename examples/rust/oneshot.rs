// A channel for one message, of whatever type, with a state that says what may be done.
// source: the shape of chapter 5 of "Rust Atomics and Locks"
// expect sc: safe
// expect tso: safe
// expect pso: safe
// expect sc race: safe

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, Ordering::*};
use std::thread;

const EMPTY: u8 = 0;
const WRITING: u8 = 1;
const READY: u8 = 2;
const TAKEN: u8 = 3;

pub struct Channel<T> {
    message: UnsafeCell<MaybeUninit<T>>,
    state: AtomicU8,
}

unsafe impl<T: Send> Sync for Channel<T> {}

impl<T> Channel<T> {
    pub const fn new() -> Self {
        Self { message: UnsafeCell::new(MaybeUninit::uninit()), state: AtomicU8::new(EMPTY) }
    }

    pub fn send(&self, message: T) {
        if self.state.compare_exchange(EMPTY, WRITING, Relaxed, Relaxed).is_err() {
            panic!("only one message can be sent");
        }
        unsafe { (*self.message.get()).write(message) };
        self.state.store(READY, Release);
    }

    pub fn is_ready(&self) -> bool {
        self.state.load(Relaxed) == READY
    }

    pub fn receive(&self) -> T {
        if self.state.compare_exchange(READY, TAKEN, Acquire, Relaxed).is_err() {
            panic!("no message available");
        }
        unsafe { (*self.message.get()).assume_init_read() }
    }
}

fn main() {
    let channel = Channel::new();
    thread::scope(|s| {
        s.spawn(|| channel.send(42_u32));
        while !channel.is_ready() {}
        assert_eq!(channel.receive(), 42);
    });
}
