//! A machine that somebody else has: for several systems with one.

use crate::memory::{Access, Done, Internal, Machine, Shown};
use crate::program::{LocationId, ProcessId, Program, PropertyKind, Value};

/// Does what the machine does.
#[derive(Debug)]
pub struct Lent<'a, M>(pub &'a M);

impl<M: Machine> Machine for Lent<'_, M> {
    type State = M::State;

    fn refuses(&self, program: &Program) -> Option<String> {
        self.0.refuses(program)
    }

    fn initial(&self, contents: Vec<Value>, n_processes: usize) -> Self::State {
        self.0.initial(contents, n_processes)
    }

    fn begin(&self, program: &Program, contents: Vec<Value>) -> Self::State {
        self.0.begin(program, contents)
    }

    fn access(&self, s: &Self::State, p: ProcessId, access: Access<'_>) -> Vec<Done<Self::State>> {
        self.0.access(s, p, access)
    }

    fn internal(&self, s: &Self::State, p: ProcessId) -> Vec<(Internal, Self::State)> {
        self.0.internal(s, p)
    }

    fn lock(&self, s: &Self::State, p: ProcessId) -> Option<Vec<Value>> {
        self.0.lock(s, p)
    }

    fn unlock(&self, s: &Self::State, p: ProcessId, contents: Vec<Value>) -> Self::State {
        self.0.unlock(s, p, contents)
    }

    fn is_settled(&self, s: &Self::State) -> bool {
        self.0.is_settled(s)
    }

    fn value(&self, s: &Self::State, x: LocationId) -> Value {
        self.0.value(s, x)
    }

    fn shown(&self, s: &Self::State, p: ProcessId) -> Shown {
        self.0.shown(s, p)
    }

    fn hears_acquire(&self) -> bool {
        self.0.hears_acquire()
    }

    fn tells(&self, s: &Self::State, kind: PropertyKind) -> Option<bool> {
        self.0.tells(s, kind)
    }
}
