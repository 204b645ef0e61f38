// A stack by compare-and-swap on its head: what was pushed by one thread is popped by the other, once.
// source: Treiber, "Systems programming: coping with parallelism", 1986
// expect sc: safe
// expect tso: safe
// expect pso: safe
// expect sc race: safe

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::thread;

struct Node {
    value: usize,
    next: *mut Node,
}

static HEAD: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());
static SUM: AtomicUsize = AtomicUsize::new(0);

fn push(value: usize) {
    let node = Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }));
    let mut head = HEAD.load(Ordering::Relaxed);
    loop {
        unsafe { (*node).next = head };
        match HEAD.compare_exchange_weak(head, node, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(other) => head = other,
        }
    }
}

fn pop() -> Option<usize> {
    let mut head = HEAD.load(Ordering::Acquire);
    while !head.is_null() {
        let next = unsafe { (*head).next };
        match HEAD.compare_exchange(head, next, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => return Some(unsafe { (*head).value }),
            Err(other) => head = other,
        }
    }
    None
}

fn main() {
    thread::scope(|s| {
        s.spawn(|| {
            push(1);
            push(2);
        });
        s.spawn(|| {
            if let Some(value) = pop() {
                assert!(value == 1 || value == 2);
                SUM.fetch_add(value, Ordering::Relaxed);
            }
        });
    });
    assert!(SUM.load(Ordering::Relaxed) <= 2);
}
