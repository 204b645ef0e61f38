// Readers and a writer with the lock of std.
// source: own
// expect sc: safe
// expect tso: safe
// expect sc race: safe

use std::sync::RwLock;
use std::thread;

static PAIR: RwLock<(u32, u32)> = RwLock::new((0, 0));

fn main() {
    thread::scope(|s| {
        s.spawn(|| {
            let mut pair = PAIR.write().unwrap();
            pair.0 += 1;
            pair.1 += 1;
        });
        for _ in 0..2 {
            s.spawn(|| {
                let pair = PAIR.read().unwrap();
                assert_eq!(pair.0, pair.1);
            });
        }
    });
}
