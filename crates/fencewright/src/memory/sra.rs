//! Strong release/acquire: stores get into modification order as they happen.
//!
//! Lahav, Giannarakis, Vafeiadis, _Taming release-acquire consistency_, POPL 2016: an execution graph whose program
//! order, reads-from and modification orders have no cycle together. Every load is acquire, every store release, every
//! update both; a full fence is a seq_cst fence, that is, an update of one further location.
//!
//! | | may act on | and then |
//! |---|---|---|
//! | load | any message that is not behind the view | the view of the message is learned |
//! | store | the end | the message has the view of its writer |
//! | update | the last message, if it writes | as a load, then as a store |

use crate::memory::messages::{Messages, refused};
use crate::memory::{Access, Done, Internal, Machine, Shown};
use crate::program::{LocationId, ProcessId, Program, Value};

/// Strong release/acquire.
#[derive(Clone, Copy, Debug)]
pub struct Sra;

impl Machine for Sra {
    type State = Messages;

    fn refuses(&self, program: &Program) -> Option<String> {
        refused(program)
    }

    fn initial(&self, contents: Vec<Value>, n_processes: usize) -> Messages {
        Messages::new(&contents, n_processes)
    }

    fn begin(&self, program: &Program, contents: Vec<Value>) -> Messages {
        Messages::of(program, &contents)
    }

    fn access(&self, s: &Messages, p: ProcessId, access: Access<'_>) -> Vec<Done<Messages>> {
        let ways = match access {
            Access::Load(x, _) => s.readable(p, x).map(|at| s.read(p, x, at)).collect(),
            Access::Store(x, value, _) => vec![s.write(p, x, s.last(x), value)],
            Access::Update(x, update, _) => s.updates(p, x, update, |at| at == s.last(x)),
            Access::Fence(kind, order) => s.fence(p, kind, order),
        };
        s.allowed(p, access, ways)
    }

    fn internal(&self, _: &Messages, _: ProcessId) -> Vec<(Internal, Messages)> {
        Vec::new()
    }

    fn lock(&self, _: &Messages, _: ProcessId) -> Option<Vec<Value>> {
        None
    }

    fn unlock(&self, s: &Messages, _: ProcessId, _: Vec<Value>) -> Messages {
        s.clone()
    }

    fn is_settled(&self, _: &Messages) -> bool {
        true
    }

    fn value(&self, s: &Messages, x: LocationId) -> Value {
        s.value(x, s.last(x))
    }

    fn shown(&self, s: &Messages, p: ProcessId) -> Shown {
        s.shown(p)
    }
}
