//! Models that were written elsewhere: a machine whose states are of a type that nobody here knows.
//!
//! ```text
//!   Named { name, machine: M }  ── is a ──▶  &'static dyn Foreign  ── is a Machine over AnyState
//! ```

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::RefUnwindSafe;
use std::sync::Arc;

use super::{Access, Done, Internal, Machine, Shown};
use crate::program::{LocationId, ProcessId, Program, Value};

/// A machine with a name, as a [`Model`](super::Model) that was written elsewhere: `Model::Foreign(&NAMED)`.
#[derive(Clone, Copy, Debug)]
pub struct Named<M> {
    /// The name, for reports.
    pub name: &'static str,
    /// The rules.
    pub machine: M,
}

/// A machine over states of an unknown type. Every [`Named`] machine is one.
pub trait Foreign: Sync + RefUnwindSafe + fmt::Debug {
    /// The name, for reports.
    fn name(&self) -> &'static str;
    /// [`Machine::refuses`].
    fn refuses(&self, program: &Program) -> Option<String>;
    /// [`Machine::initial`].
    fn initial(&self, contents: Vec<Value>, n_processes: usize) -> AnyState;
    /// [`Machine::begin`].
    fn begin(&self, program: &Program, contents: Vec<Value>) -> AnyState;
    /// [`Machine::access`].
    fn access(&self, s: &AnyState, p: ProcessId, access: Access<'_>) -> Vec<Done<AnyState>>;
    /// [`Machine::internal`].
    fn internal(&self, s: &AnyState, p: ProcessId) -> Vec<(Internal, AnyState)>;
    /// [`Machine::lock`].
    fn lock(&self, s: &AnyState, p: ProcessId) -> Option<Vec<Value>>;
    /// [`Machine::unlock`].
    fn unlock(&self, s: &AnyState, p: ProcessId, contents: Vec<Value>) -> AnyState;
    /// [`Machine::is_settled`].
    fn is_settled(&self, s: &AnyState) -> bool;
    /// [`Machine::value`].
    fn value(&self, s: &AnyState, x: LocationId) -> Value;
    /// [`Machine::shown`].
    fn shown(&self, s: &AnyState, p: ProcessId) -> Shown;
}

/// A state of some machine. States of different machines are never equal.
#[derive(Clone)]
pub struct AnyState(Arc<dyn Erased>);

impl AnyState {
    fn new<S: Erased>(state: S) -> Self {
        Self(Arc::new(state))
    }

    fn as_a<S: Erased>(&self) -> &S {
        self.0.as_any().downcast_ref().expect("a machine is asked about its own states only")
    }
}

impl PartialEq for AnyState {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_same(&*other.0)
    }
}

impl Eq for AnyState {}

impl Hash for AnyState {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.feed(state);
    }
}

impl fmt::Debug for AnyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What can be done with a state without knowing its type.
trait Erased: fmt::Debug + Send + Sync + 'static {
    fn as_any(&self) -> &dyn Any;
    fn is_same(&self, other: &dyn Erased) -> bool;
    fn feed(&self, hasher: &mut dyn Hasher);
}

impl<S: Eq + Hash + fmt::Debug + Send + Sync + 'static> Erased for S {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_same(&self, other: &dyn Erased) -> bool {
        other.as_any().downcast_ref::<S>().is_some_and(|other| self == other)
    }

    fn feed(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

impl<M: Machine + RefUnwindSafe + fmt::Debug> Foreign for Named<M>
where
    M::State: 'static,
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn refuses(&self, program: &Program) -> Option<String> {
        self.machine.refuses(program)
    }

    fn initial(&self, contents: Vec<Value>, n_processes: usize) -> AnyState {
        AnyState::new(self.machine.initial(contents, n_processes))
    }

    fn begin(&self, program: &Program, contents: Vec<Value>) -> AnyState {
        AnyState::new(self.machine.begin(program, contents))
    }

    fn access(&self, s: &AnyState, p: ProcessId, access: Access<'_>) -> Vec<Done<AnyState>> {
        let all = self.machine.access(s.as_a(), p, access).into_iter();
        all.map(|it| Done { read: it.read, origin: it.origin, state: AnyState::new(it.state) }).collect()
    }

    fn internal(&self, s: &AnyState, p: ProcessId) -> Vec<(Internal, AnyState)> {
        let all = self.machine.internal(s.as_a(), p).into_iter();
        all.map(|(what, state)| (what, AnyState::new(state))).collect()
    }

    fn lock(&self, s: &AnyState, p: ProcessId) -> Option<Vec<Value>> {
        self.machine.lock(s.as_a(), p)
    }

    fn unlock(&self, s: &AnyState, p: ProcessId, contents: Vec<Value>) -> AnyState {
        AnyState::new(self.machine.unlock(s.as_a(), p, contents))
    }

    fn is_settled(&self, s: &AnyState) -> bool {
        self.machine.is_settled(s.as_a())
    }

    fn value(&self, s: &AnyState, x: LocationId) -> Value {
        self.machine.value(s.as_a(), x)
    }

    fn shown(&self, s: &AnyState, p: ProcessId) -> Shown {
        self.machine.shown(s.as_a(), p)
    }
}

impl Machine for &'static dyn Foreign {
    type State = AnyState;

    fn refuses(&self, program: &Program) -> Option<String> {
        (**self).refuses(program)
    }

    fn initial(&self, contents: Vec<Value>, n_processes: usize) -> AnyState {
        (**self).initial(contents, n_processes)
    }

    fn begin(&self, program: &Program, contents: Vec<Value>) -> AnyState {
        (**self).begin(program, contents)
    }

    fn access(&self, s: &AnyState, p: ProcessId, access: Access<'_>) -> Vec<Done<AnyState>> {
        (**self).access(s, p, access)
    }

    fn internal(&self, s: &AnyState, p: ProcessId) -> Vec<(Internal, AnyState)> {
        (**self).internal(s, p)
    }

    fn lock(&self, s: &AnyState, p: ProcessId) -> Option<Vec<Value>> {
        (**self).lock(s, p)
    }

    fn unlock(&self, s: &AnyState, p: ProcessId, contents: Vec<Value>) -> AnyState {
        (**self).unlock(s, p, contents)
    }

    fn is_settled(&self, s: &AnyState) -> bool {
        (**self).is_settled(s)
    }

    fn value(&self, s: &AnyState, x: LocationId) -> Value {
        (**self).value(s, x)
    }

    fn shown(&self, s: &AnyState, p: ProcessId) -> Shown {
        (**self).shown(s, p)
    }
}
