//! Threads that are named elsewhere than in the text: by who asks.

use fencewright::frontend::rewrite::Rewrite;
use fencewright::frontend::{Frontend, Input, Read};

use crate::rewrite;

/// The front end for C texts without a `main`, with the threads that they are checked with.
#[derive(Clone, Debug, Default)]
pub struct Harness {
    /// Calls, one thread each or a family: `f(0)`, `worker(i) for i in 0..2`.
    pub threads: Vec<String>,
    /// A function that is called before the threads start: `setup()`.
    pub init: Option<String>,
    /// A function that is called when all of them have ended.
    pub end: Option<String>,
}

impl Harness {
    /// What comments would say.
    pub(crate) fn lines(&self) -> Vec<String> {
        let threads = self.threads.iter().map(|it| format!("thread {it}"));
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

    fn rewrite(&self) -> Option<&dyn Rewrite> {
        Some(&rewrite::Fences)
    }
}
