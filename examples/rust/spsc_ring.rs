// A ring for one sender and one receiver: what is received is what was sent, in order.
// source: Lamport, "Specifying concurrent program modules", 1983
// expect sc: safe
// expect tso: safe
// expect pso: safe
// expect sc race: safe

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const SIZE: usize = 2;

struct Ring {
    items: [UnsafeCell<u32>; SIZE],
    head: AtomicUsize,
    tail: AtomicUsize,
}

unsafe impl Sync for Ring {}

impl Ring {
    const fn new() -> Self {
        Self {
            items: [const { UnsafeCell::new(0) }; SIZE],
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
        }
    }

    fn push(&self, item: u32) -> Result<(), u32> {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail - self.head.load(Ordering::Acquire) == SIZE {
            return Err(item);
        }
        unsafe { *self.items[tail % SIZE].get() = item };
        self.tail.store(tail + 1, Ordering::Release);
        Ok(())
    }

    fn pop(&self) -> Option<u32> {
        let head = self.head.load(Ordering::Relaxed);
        if head == self.tail.load(Ordering::Acquire) {
            return None;
        }
        let item = unsafe { *self.items[head % SIZE].get() };
        self.head.store(head + 1, Ordering::Release);
        Some(item)
    }
}

static RING: Ring = Ring::new();

fn main() {
    let sender = thread::spawn(|| {
        for item in 1..=3 {
            while RING.push(item).is_err() {}
        }
    });
    let receiver = thread::spawn(|| {
        for expected in 1..=3 {
            let item = loop {
                if let Some(item) = RING.pop() {
                    break item;
                }
            };
            assert_eq!(item, expected);
        }
    });
    sender.join().unwrap();
    receiver.join().unwrap();
}
