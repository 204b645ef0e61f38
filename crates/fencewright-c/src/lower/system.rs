//! Functions of the system: assertions, locks, and what has no part in what threads do to each other.

use fencewright::frontend::hir::{
    Condition, ConditionKind, EffectKind, Expr, Place, StmtKind, StoreOrder, UpdateOrder,
};
use fencewright::program::Domain;
use fencewright::source::{Diagnostic, Span};

use crate::ast;
use crate::types::Integer;

use super::Lowering;
use super::places::test;
use super::sync::sync;
use super::value::Value;

/// Constants that headers of the system have.
pub(super) fn constant(name: &str) -> Option<i64> {
    if let Some(order) = super::atomics::order_named(name) {
        return Some(order);
    }
    Some(match name {
        "thrd_success" | "PTHREAD_CREATE_JOINABLE" | "PTHREAD_MUTEX_NORMAL" | "mtx_plain" | "EXIT_SUCCESS" => 0,
        "thrd_error" | "thrd_busy" | "EXIT_FAILURE" | "true" => 1,
        "PTHREAD_BARRIER_SERIAL_THREAD" => -1,
        "ETIMEDOUT" | "thrd_timedout" => 110,
        "false" => 0,
        _ => return None,
    })
}

/// What a function of the system means.
enum System {
    /// A violation unless the argument holds.
    Assert,
    /// Waits until it holds.
    Assume,
    /// A violation.
    Fail,
    /// The thread ends.
    Exit,
    Lock,
    TryLock,
    Unlock,
    /// The lock is free.
    InitLock,
    Create,
    Join,
    /// `malloc`, and how many arguments say the size.
    Allocate(usize),
    Free,
    /// `memset`
    Zero,
    /// `memcpy`
    Copy,
    /// Any value of the type.
    Any(i64, i64),
    /// The first argument.
    First,
    /// Nothing; its arguments are looked at.
    Ignored,
}

fn system(name: &str) -> Option<System> {
    Some(match name {
        "assert" | "__VERIFIER_assert" => System::Assert,
        "__VERIFIER_assume" | "assume" | "verification_assume" => System::Assume,
        "abort" | "__VERIFIER_error" | "reach_error" | "__assert_fail" | "__builtin_unreachable" => System::Fail,
        "exit" | "_exit" | "pthread_exit" | "thrd_exit" | "quick_exit" => System::Exit,
        "pthread_mutex_lock" | "mtx_lock" | "spin_lock" | "pthread_spin_lock" => System::Lock,
        "pthread_mutex_trylock" | "mtx_trylock" | "pthread_spin_trylock" => System::TryLock,
        "pthread_mutex_unlock" | "mtx_unlock" | "spin_unlock" | "pthread_spin_unlock" => System::Unlock,
        "pthread_mutex_init" | "mtx_init" | "spin_lock_init" | "pthread_spin_init" => System::InitLock,
        "pthread_create" | "thrd_create" => System::Create,
        "pthread_join" | "thrd_join" => System::Join,
        "malloc" => System::Allocate(1),
        "calloc" => System::Allocate(2),
        "free" => System::Free,
        "memset" => System::Zero,
        "memcpy" | "memmove" => System::Copy,
        "__VERIFIER_nondet_bool" | "__VERIFIER_nondet__Bool" => System::Any(0, 1),
        "__VERIFIER_nondet_uchar" => System::Any(0, 255),
        "__VERIFIER_nondet_char" => System::Any(-128, 127),
        "__builtin_expect" | "likely" | "unlikely" => System::First,
        _ if is_ignored(name) => System::Ignored,
        _ => return None,
    })
}

fn is_ignored(name: &str) -> bool {
    let names = [
        "printf",
        "fprintf",
        "puts",
        "putchar",
        "fflush",
        "perror",
        "usleep",
        "sleep",
        "sched_yield",
        "thrd_yield",
        "cpu_relax",
        "pthread_mutex_destroy",
        "mtx_destroy",
        "pthread_cond_destroy",
        "cnd_destroy",
        "pthread_barrier_destroy",
        "pthread_condattr_init",
        "pthread_condattr_destroy",
        "pthread_attr_init",
        "pthread_attr_destroy",
        "pthread_attr_setdetachstate",
        "pthread_mutexattr_init",
        "pthread_mutexattr_settype",
        "pthread_yield",
        "pthread_detach",
        "thrd_detach",
        "srand",
        "__VERIFIER_loop_begin",
        "__VERIFIER_loop_bound",
        "__VERIFIER_spin_start",
        "__VERIFIER_spin_end",
        "__VERIFIER_atomic_begin",
        "__builtin_ia32_pause",
        "_mm_pause",
        "pthread_spin_destroy",
        "atomic_is_lock_free",
        "static_assert",
        "_Static_assert",
    ];
    names.contains(&name)
}

/// What to write instead of a function that is well known and not supported.
fn instead_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "container_of" | "offsetof" => "keep a pointer to the whole structure",
        "memcmp" => "compare each field and cell by itself",
        "realloc" | "aligned_alloc" | "posix_memalign" | "alloca" => "use `malloc`, or an array outside functions",
        "setjmp" | "longjmp" | "signal" | "sigaction" | "fork" => "leave it out: threads are all that is looked at",
        "pthread_rwlock_rdlock" | "pthread_rwlock_wrlock" | "pthread_rwlock_unlock" | "pthread_rwlock_init" => {
            "write the lock with atomics, or use a mutex if that is enough"
        }
        "sem_wait" | "sem_post" | "sem_init" => "write the semaphore with an atomic counter",
        "pthread_once" | "call_once" => "write it with an atomic flag",
        "rand" | "random" => "use `__VERIFIER_nondet_bool`, or `__VERIFIER_nondet_uchar`",
        _ => return None,
    })
}

impl<'a> Lowering<'a> {
    /// A call of a function that the text does not have.
    pub(super) fn system_call(&mut self, name: &ast::Name, arguments: &'a [ast::Expr], span: Span) -> Option<Value> {
        if let Some(value) = self.atomic_call(name, arguments, span)? {
            return Some(value);
        }
        let Some(system) = system(&name.text) else {
            return match sync(&name.text) {
                Some(sync) => self.sync_call(sync, name, arguments, span),
                None => self.unknown_function(name, arguments.len()),
            };
        };
        match system {
            System::Create => return self.create(&name.text, arguments, span),
            System::Join => return self.join(arguments, span),
            System::Zero => return self.zeroed(name, arguments, span),
            System::Copy => return self.copied(name, arguments, span),
            System::Allocate(n) => return self.allocate(name, arguments, n, span),
            System::Assert => {
                let argument = self.argument(name, arguments, 0)?;
                let condition = self.condition(argument)?;
                self.leave_alone_for(&condition);
                self.state.emit(StmtKind::Assert(condition), span);
            }
            System::Assume => {
                let argument = self.argument(name, arguments, 0)?;
                let condition = self.condition(argument)?;
                self.state.emit(StmtKind::Assume(condition), span);
            }
            System::Fail => self.state.emit(StmtKind::Assert(test(Expr::Const(0), span)), span),
            System::Exit => self.exit(span),
            System::Lock | System::TryLock | System::Unlock | System::InitLock => {
                let argument = self.argument(name, arguments, 0)?;
                return self.lock(&system, argument, span);
            }
            System::Free => {
                let argument = self.argument(name, arguments, 0)?;
                self.free(argument, span)?;
            }
            System::Any(lo, hi) => {
                let kind = EffectKind::Any(Domain::Range(lo, hi), lo, hi);
                return Some(Value::Number(self.state.kept(kind, span), Integer::INT));
            }
            System::First => {
                let argument = self.argument(name, arguments, 0)?;
                return self.value(argument);
            }
            System::Ignored => arguments.iter().try_for_each(|it| self.value(it).map(drop))?,
        }
        Some(Value::int(0))
    }

    fn unknown_function(&mut self, name: &ast::Name, n_arguments: usize) -> Option<Value> {
        self.undefined(name, n_arguments)?;
        if let Some(instead) = instead_of(&name.text) {
            return self.refuse(name.span, &format!("`{}` is not supported", name.text), instead);
        }
        let help = "define it, or leave it out if it does nothing to shared memory";
        self.refuse(name.span, &format!("the function `{}` is not known", name.text), help)
    }

    /// Says what is wrong with a call of a function that is declared only; nothing if it is not even that.
    fn undefined(&mut self, name: &ast::Name, n_arguments: usize) -> Option<()> {
        let Some(&declared) = self.declared.get(&name.text) else { return Some(()) };
        let n = declared.n_parameters;
        let fits = n_arguments == n || declared.is_variadic && n_arguments > n;
        let (message, help) = if fits {
            (format!("the function `{}` has no body", name.text), "define it, or leave it out")
        } else {
            (format!("`{}` has {n} parameters, found {n_arguments} arguments", name.text), "give what it takes")
        };
        self.log.say(Diagnostic::error(name.span, message).and_at(declared.span, "declared here").with_help(help));
        None
    }

    pub(super) fn argument(
        &mut self,
        name: &ast::Name,
        arguments: &'a [ast::Expr],
        at: usize,
    ) -> Option<&'a ast::Expr> {
        let found = arguments.get(at);
        if found.is_none() {
            self.log.error(name.span, format!("`{}` needs an argument", name.text), "give it one");
        }
        found
    }

    /// What is done to a lock.
    fn lock(&mut self, system: &System, lock: &'a ast::Expr, span: Span) -> Option<Value> {
        if matches!(system, System::InitLock) {
            let value = self.value(lock)?;
            let named = self.pointed_at(value, span)?;
            self.store(&named, StoreOrder::Release, Value::int(0), span)?;
            return Some(Value::int(0));
        }
        let done = if matches!(system, System::Unlock) {
            self.unlocked(lock, span)
        } else if matches!(system, System::TryLock) {
            self.at_lock(lock, span, &mut |it, place| {
                it.state.kept(EffectKind::Decide(taken(place, span)), span).negated()
            })
        } else {
            self.locked(lock, span)
        };
        Some(Value::Number(done?, Integer::INT))
    }

    /// Waits until a lock is free, and takes it.
    pub(super) fn locked(&mut self, lock: &'a ast::Expr, span: Span) -> Option<Expr> {
        self.at_lock(lock, span, &mut |it, place| {
            it.state.emit(StmtKind::Assume(taken(place, span)), span);
            Expr::Const(0)
        })
    }

    /// Gives a lock back.
    pub(super) fn unlocked(&mut self, lock: &'a ast::Expr, span: Span) -> Option<Expr> {
        self.at_lock(lock, span, &mut |it, place| {
            it.state.emit(StmtKind::Store(place, StoreOrder::Release, Expr::Const(0)), span);
            Expr::Const(0)
        })
    }

    /// Does something to the lock that an argument points at.
    fn at_lock(
        &mut self,
        pointer: &'a ast::Expr,
        span: Span,
        act: &mut dyn FnMut(&mut Self, Place) -> Expr,
    ) -> Option<Expr> {
        let value = self.value(pointer)?;
        let named = self.pointed_at(value, pointer.span)?;
        self.at_each(&named, span, &mut |it, target| {
            let place = it.place(target, span)?;
            Some(act(it, place))
        })
    }

    /// A condition that is known to hold is no reason for `main` to be a thread.
    fn leave_alone_for(&mut self, condition: &Condition) {
        if super::conditions::known(condition) != Some(true) {
            self.leave_alone();
        }
    }
}

/// Whether a lock was free, and is taken now.
fn taken(place: Place, span: Span) -> Condition {
    let kind = ConditionKind::Cas { place, order: UpdateOrder::Acquire, old: Expr::Const(0), new: Expr::Const(1) };
    Condition { span, kind }
}
