// A ticket lock: who draws a number waits until it is called.
// source: Reed and Kanodia, "Synchronization with eventcounts and sequencers", 1979
// expect sc: safe
// expect tso: safe
// expect pso: safe
// expect sc race: safe

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

struct TicketLock {
    next: AtomicU32,
    serving: AtomicU32,
    count: UnsafeCell<u32>,
}

unsafe impl Sync for TicketLock {}

impl TicketLock {
    fn with(&self, change: impl FnOnce(&mut u32)) {
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        while self.serving.load(Ordering::Acquire) != ticket {}
        change(unsafe { &mut *self.count.get() });
        self.serving.store(ticket + 1, Ordering::Release);
    }
}

static LOCK: TicketLock =
    TicketLock { next: AtomicU32::new(0), serving: AtomicU32::new(0), count: UnsafeCell::new(0) };

fn main() {
    let threads = [0, 1].map(|_| thread::spawn(|| LOCK.with(|count| *count += 1)));
    for thread in threads {
        thread.join().unwrap();
    }
    LOCK.with(|count| assert_eq!(*count, 2));
}
