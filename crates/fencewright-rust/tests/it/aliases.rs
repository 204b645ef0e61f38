//! Other names for types: those of other crates, and names that stand for more and more.

use crate::examples::program;

/// A lock of one's own, and beside it a name for the one of a crate that is not there.
const BESIDE_ANOTHER_CRATE: &str = r#"
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

pub struct Mutex<T> {
    flag: AtomicBool,
    pub data: T,
}

impl<T> Mutex<T> {
    fn lock(&self) {
        while self.flag.swap(true, Ordering::Acquire) {}
    }
}

pub mod lock_api {
    pub type Mutex<T> = lock_api_crate::Mutex<crate::Mutex<()>, T>;
    pub type Guard<T> = lock_api_crate::Guard<crate::Mutex<()>, Guard<T>>;
}

static LOCK: Mutex<AtomicU32> = Mutex { flag: AtomicBool::new(false), data: AtomicU32::new(0) };

fn main() {
    std::thread::scope(|s| {
        s.spawn(|| LOCK.lock());
    });
    assert_eq!(LOCK.data.load(Ordering::Relaxed), 0);
}
"#;

#[test]
fn a_type_of_another_crate_is_not_its_own_alias() {
    program("t.rs", BESIDE_ANOTHER_CRATE).unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn names_that_double_are_read_to_the_end() {
    let levels = 60;
    let named: String = (1..levels).map(|i| format!("type A{i} = (A{}, A{});\n", i - 1, i - 1)).collect();
    let nested = format!("{}u8{}", "D<".repeat(20), ">".repeat(20));
    for ty in [format!("A{}", levels - 1), nested] {
        let main = format!("fn main() {{ let x: {ty} = (); std::thread::spawn(|| {{}}).join().unwrap(); }}");
        let text = format!("type A0 = u8;\ntype D<T> = (T, T);\n{named}{main}");
        // Nothing is done with it: what matters is that there is an answer.
        program("t.rs", &text).unwrap_or_else(|why| panic!("{why}"));
    }
}
