//! The slot from outside.

use std::thread;

use hand_over::Slot;

#[test]
fn one_of_two_gets_it() {
    let slot = Slot::new();
    slot.give(7);
    let (first, second) = thread::scope(|s| {
        let first = s.spawn(|| slot.take());
        let second = s.spawn(|| slot.take());
        (first.join().unwrap(), second.join().unwrap())
    });
    assert!(first.is_some() != second.is_some());
}
