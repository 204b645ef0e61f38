//! Release/acquire: a store may get into modification order anywhere above what its thread has seen of the location.
//!
//! The fragment of C11 with release/acquire accesses only (Lahav, Vafeiadis, _Owicki-Gries reasoning for weak memory
//! models_, ICALP 2015): program order and reads-from have no cycle, and no access contradicts a modification order
//! that it could know of. Two threads may so put their stores into places that no order of execution explains, which
//! strong release/acquire ([`sra`](super::sra)) does not allow.
//!
//! | | may act on | and then |
//! |---|---|---|
//! | load | any message that is not behind the view | the view of the message is learned |
//! | store | anywhere behind the view, but not between an update and its source | the message has its writer's view |
//! | update | a message that nothing updates yet, if it writes | as a load, then as a store right behind it |

use crate::memory::messages::{Messages, refused};
use crate::memory::{Access, Done, Internal, Machine, Shown};
use crate::program::{LocationId, ProcessId, Program, Value};

/// Release/acquire.
#[derive(Clone, Copy, Debug)]
pub struct Ra;

impl Machine for Ra {
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
            Access::Store(x, value, _) => {
                s.readable(p, x).filter(|&at| s.is_open(x, at)).map(|at| s.write(p, x, at, value)).collect()
            }
            Access::Update(x, update, _) => s.updates(p, x, update, |at| s.is_open(x, at)),
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
