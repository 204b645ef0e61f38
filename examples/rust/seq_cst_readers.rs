// The reference's example for sequential consistency, with readers that spin: loom never ends on it.
// source: the documentation of `memory_order_seq_cst`; issue 191 of loom
// expect sc: safe
// expect tso: safe
// expect pso: safe

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

static X: AtomicBool = AtomicBool::new(false);
static Y: AtomicBool = AtomicBool::new(false);
static Z: AtomicUsize = AtomicUsize::new(0);

fn main() {
    thread::scope(|s| {
        s.spawn(|| X.store(true, SeqCst));
        s.spawn(|| Y.store(true, SeqCst));
        s.spawn(|| {
            while !X.load(SeqCst) {}
            if Y.load(SeqCst) {
                Z.fetch_add(1, SeqCst);
            }
        });
        s.spawn(|| {
            while !Y.load(SeqCst) {}
            if X.load(SeqCst) {
                Z.fetch_add(1, SeqCst);
            }
        });
    });
    assert!(Z.load(SeqCst) != 0);
}
