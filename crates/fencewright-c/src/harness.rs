//! What is said elsewhere than in the text, by who asks: threads, and how much room there is.

use fencewright::frontend::asked::Asked;
use fencewright::frontend::rewrite::Rewrite;
use fencewright::frontend::{Frontend, Input, Read};
use fencewright::source::Source;

use crate::{litmus, rewrite};

/// The front end for C texts with what they are checked with.
#[derive(Clone, Debug, Default)]
pub struct Harness {
    /// Calls, one thread each or a family: `f(0)`, `worker(i) for i in 0..2`, `worker() any`.
    pub threads: Vec<String>,
    /// Whether there is any number of copies of each of them.
    pub is_any_number: bool,
    /// A function that is called before the threads start: `setup()`.
    pub init: Option<String>,
    /// A function that is called when all of them have ended.
    pub end: Option<String>,
    /// How often a thread may allocate in a loop, at each place.
    pub heap: Option<u64>,
    /// Whether a thread may get again what it freed.
    pub is_heap_reused: bool,
}

/// How often a thread may allocate in a loop, at each place, if nobody says so.
const HEAP: u64 = 4;

impl Harness {
    /// The room for what is allocated in loops.
    pub(crate) fn room(&self) -> u64 {
        self.heap.unwrap_or(HEAP).max(1)
    }

    /// What comments would say.
    pub(crate) fn lines(&self) -> Vec<String> {
        let any = if self.is_any_number { " any" } else { "" };
        let threads = self.threads.iter().map(|it| format!("thread {it}{any}"));
        let init = self.init.iter().map(|it| format!("init {it}"));
        threads.chain(init).chain(self.end.iter().map(|it| format!("final {it}"))).collect()
    }
}

impl Frontend for Harness {
    fn name(&self) -> &'static str {
        "c"
    }

    fn about(&self) -> &'static str {
        "C11 with atomics, and threads by name"
    }

    fn read(&self, input: &mut Input<'_>) -> Read {
        crate::read_with(input, self)
    }

    fn asked(&self, source: &Source) -> Option<Asked> {
        litmus::asked(source.text())
    }

    fn rewrite(&self) -> Option<&dyn Rewrite> {
        Some(&rewrite::Fences)
    }
}
