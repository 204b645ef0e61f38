// Dekker's first idea with flags alone: nobody gets in beside another, and somebody may give up.
// source: Dijkstra, "Cooperating sequential processes", 1965
// expect sc: safe
// expect tso: safe
// expect sc race: safe

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

struct Shared {
    wants: [AtomicBool; 2],
    data: UnsafeCell<usize>,
}

unsafe impl Sync for Shared {}

impl Shared {
    fn try_enter(&self, me: usize) -> bool {
        self.wants[me].store(true, SeqCst);
        if self.wants[1 - me].load(SeqCst) {
            self.wants[me].store(false, SeqCst);
            return false;
        }
        true
    }

    fn leave(&self, me: usize) {
        self.wants[me].store(false, SeqCst);
    }
}

fn main() {
    let shared = Shared { wants: [AtomicBool::new(false), AtomicBool::new(false)], data: UnsafeCell::new(0) };
    thread::scope(|s| {
        for me in 0..2 {
            let shared = &shared;
            s.spawn(move || {
                if shared.try_enter(me) {
                    unsafe { *shared.data.get() = me };
                    assert_eq!(unsafe { *shared.data.get() }, me);
                    shared.leave(me);
                }
            });
        }
    });
}
