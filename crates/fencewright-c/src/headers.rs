//! Headers of the system, as tables: what macros they define and what types they have.
//!
//! ```text
//!   #include <pthread.h>   ─▶   NULL, PTHREAD_MUTEX_INITIALIZER, …     defined where it is included
//!   pthread_t t;           ─▶   BuiltinType::Thread                    a type everywhere, unless the user declares it
//!   pthread_create(…)      ─▶   a call of a name: what it means is not known here
//! ```

use crate::ast::{BuiltinType, TypeKind};

/// Macros that belong together.
type Group = &'static [&'static str];

const NULL: Group = &["NULL ((void *)0)"];
const BOOL: Group = &["bool _Bool", "true 1", "false 0", "__bool_true_false_are_defined 1"];
const LIMITS: Group = &[
    "CHAR_BIT 8",
    "SCHAR_MIN (-128)",
    "SCHAR_MAX 127",
    "UCHAR_MAX 255",
    "CHAR_MIN (-128)",
    "CHAR_MAX 127",
    "SHRT_MIN (-32768)",
    "SHRT_MAX 32767",
    "USHRT_MAX 65535",
    "INT_MIN (-2147483647 - 1)",
    "INT_MAX 2147483647",
    "UINT_MAX 4294967295u",
    "LONG_MIN (-9223372036854775807L - 1)",
    "LONG_MAX 9223372036854775807L",
    "ULONG_MAX 18446744073709551615uL",
    "LLONG_MIN (-9223372036854775807LL - 1)",
    "LLONG_MAX 9223372036854775807LL",
    "ULLONG_MAX 18446744073709551615uLL",
    "PTHREAD_STACK_MIN 16384",
];
const STDINT: Group = &[
    "INT8_MIN (-128)",
    "INT16_MIN (-32768)",
    "INT32_MIN (-2147483647 - 1)",
    "INT64_MIN (-9223372036854775807L - 1)",
    "INT8_MAX 127",
    "INT16_MAX 32767",
    "INT32_MAX 2147483647",
    "INT64_MAX 9223372036854775807L",
    "UINT8_MAX 255",
    "UINT16_MAX 65535",
    "UINT32_MAX 4294967295u",
    "UINT64_MAX 18446744073709551615uL",
    "INTPTR_MIN (-9223372036854775807L - 1)",
    "INTPTR_MAX 9223372036854775807L",
    "UINTPTR_MAX 18446744073709551615uL",
    "INTMAX_MAX 9223372036854775807L",
    "UINTMAX_MAX 18446744073709551615uL",
    "PTRDIFF_MAX 9223372036854775807L",
    "SIZE_MAX 18446744073709551615uL",
    "INT8_C(x) x",
    "INT16_C(x) x",
    "INT32_C(x) x",
    "INT64_C(x) x ## L",
    "UINT8_C(x) x",
    "UINT16_C(x) x",
    "UINT32_C(x) x ## u",
    "UINT64_C(x) x ## uL",
];
const INTTYPES: Group = &[
    "PRId8 \"hhd\"",
    "PRIu8 \"hhu\"",
    "PRIx8 \"hhx\"",
    "PRId16 \"hd\"",
    "PRIu16 \"hu\"",
    "PRIx16 \"hx\"",
    "PRId32 \"d\"",
    "PRIi32 \"i\"",
    "PRIu32 \"u\"",
    "PRIx32 \"x\"",
    "PRIX32 \"X\"",
    "PRId64 \"ld\"",
    "PRIi64 \"li\"",
    "PRIu64 \"lu\"",
    "PRIx64 \"lx\"",
    "PRIX64 \"lX\"",
    "PRIdPTR \"ld\"",
    "PRIuPTR \"lu\"",
    "PRIxPTR \"lx\"",
    "PRIdMAX \"ld\"",
    "PRIuMAX \"lu\"",
];
const ATOMIC: Group = &[
    "ATOMIC_VAR_INIT(value) (value)",
    "ATOMIC_FLAG_INIT { 0 }",
    "kill_dependency(value) (value)",
    "ATOMIC_BOOL_LOCK_FREE 2",
    "ATOMIC_CHAR_LOCK_FREE 2",
    "ATOMIC_SHORT_LOCK_FREE 2",
    "ATOMIC_INT_LOCK_FREE 2",
    "ATOMIC_LONG_LOCK_FREE 2",
    "ATOMIC_LLONG_LOCK_FREE 2",
    "ATOMIC_POINTER_LOCK_FREE 2",
];
const PTHREAD: Group = &[
    "PTHREAD_MUTEX_INITIALIZER { 0 }",
    "PTHREAD_COND_INITIALIZER { 0 }",
    "PTHREAD_RWLOCK_INITIALIZER { 0 }",
    "PTHREAD_ONCE_INIT 0",
    "PTHREAD_BARRIER_SERIAL_THREAD (-1)",
    "PTHREAD_CREATE_JOINABLE 0",
    "PTHREAD_CREATE_DETACHED 1",
    "PTHREAD_MUTEX_NORMAL 0",
    "PTHREAD_MUTEX_RECURSIVE 1",
    "PTHREAD_MUTEX_ERRORCHECK 2",
    "PTHREAD_MUTEX_DEFAULT 0",
    "PTHREAD_PROCESS_PRIVATE 0",
    "PTHREAD_PROCESS_SHARED 1",
    "PTHREAD_SCOPE_SYSTEM 0",
    "PTHREAD_SCOPE_PROCESS 1",
];
const THREADS: Group = &[
    "thread_local _Thread_local",
    "ONCE_FLAG_INIT 0",
    "thrd_success 0",
    "thrd_busy 1",
    "thrd_error 2",
    "thrd_nomem 3",
    "thrd_timedout 4",
    "mtx_plain 0",
    "mtx_recursive 1",
    "mtx_timed 2",
];
const ERRNO: Group = &[
    "EPERM 1",
    "ENOENT 2",
    "ESRCH 3",
    "EINTR 4",
    "EIO 5",
    "EAGAIN 11",
    "EWOULDBLOCK 11",
    "ENOMEM 12",
    "EFAULT 14",
    "EBUSY 16",
    "EEXIST 17",
    "EINVAL 22",
    "ENOSPC 28",
    "ERANGE 34",
    "EDEADLK 35",
    "EOVERFLOW 75",
    "ETIMEDOUT 110",
];
const ASSERT: Group = &["static_assert _Static_assert"];
const STDLIB: Group = &["EXIT_SUCCESS 0", "EXIT_FAILURE 1", "RAND_MAX 2147483647"];
const STDIO: Group = &["EOF (-1)", "BUFSIZ 8192", "SEEK_SET 0", "SEEK_CUR 1", "SEEK_END 2"];
const ALIGN: Group = &["alignas _Alignas", "alignof _Alignof", "noreturn _Noreturn"];
const KERNEL: Group = &[
    "__always_inline inline",
    "__maybe_unused",
    "__must_check",
    "__percpu",
    "__rcu",
    "__user",
    "DEFINE_SPINLOCK(name) spinlock_t name",
    "DEFINE_MUTEX(name) pthread_mutex_t name",
    "__SPIN_LOCK_UNLOCKED(name) { 0 }",
    "ATOMIC_INIT(value) (value)",
    "EXPORT_SYMBOL(name)",
    "EXPORT_SYMBOL_GPL(name)",
];
/// What every header of the system brings along.
const DECLARATIONS: Group = &["__BEGIN_DECLS", "__END_DECLS", "__THROW"];
/// Notes around statements for another tool, which mean nothing here.
const GENMC: Group = &[
    "__VERIFIER_local_write(statement) do { statement; } while (0)",
    "__VERIFIER_final_write(statement) do { statement; } while (0)",
    "__VERIFIER_helped_CAS(statement) do { statement; } while (0)",
    "__VERIFIER_helping_CAS(statement) do { statement; } while (0)",
    "__VERIFIER_speculative_read(value) value",
    "__VERIFIER_confirming_read(value) value",
    "__VERIFIER_confirming_CAS(value) value",
    "__VERIFIER_final_CAS(value) value",
    "__VERIFIER_optional(statement) do { statement; } while (0)",
];
const VSYNC: Group = &[
    "VATOMIC_INIT(value) (value)",
    "vatomicptr(type) vatomicptr_t",
    "V_UNUSED(...)",
    "VBOOL_TRUE 1",
    "VBOOL_FALSE 0",
    "vtrue 1",
    "vfalse 0",
    "VUINT32_MAX 4294967295u",
    "VUINT64_MAX 18446744073709551615uL",
    "VUINTPTR_MAX 18446744073709551615uL",
    "VSYNC_CACHEALIGN",
    "VSYNC_INLINE inline",
    "VATOMIC_INLINE inline",
    "vsizeof(x) sizeof(x)",
    "ASSERT(condition) assert(condition)",
    "BUG_ON(condition) assert(!(condition))",
    "V_STATIC_ASSERT(condition, text) _Static_assert((condition), text)",
    "await_while(condition) while (condition)",
    "await_do do",
    "while_await(condition) while (condition)",
    "verification_ignore() __VERIFIER_assume(0)",
    "verification_loop_begin()",
    "verification_loop_bound(bound)",
    "verification_spin_start()",
    "verification_spin_end(condition)",
];

/// Each header with what it defines; those that define nothing are there to be known.
const HEADERS: &[(&str, &[Group])] = &[
    ("stdatomic.h", &[ATOMIC]),
    ("threads.h", &[THREADS]),
    ("pthread.h", &[PTHREAD, NULL, ERRNO]),
    ("assert.h", &[ASSERT]),
    ("stdbool.h", &[BOOL]),
    ("stdint.h", &[STDINT]),
    ("inttypes.h", &[STDINT, INTTYPES]),
    ("stddef.h", &[NULL]),
    ("limits.h", &[LIMITS]),
    ("stdlib.h", &[STDLIB, NULL]),
    ("stdio.h", &[STDIO, NULL]),
    ("string.h", &[NULL]),
    ("strings.h", &[NULL]),
    ("malloc.h", &[NULL]),
    ("unistd.h", &[NULL]),
    ("sched.h", &[NULL]),
    ("semaphore.h", &[]),
    ("errno.h", &[ERRNO]),
    ("time.h", &[NULL]),
    ("stdarg.h", &[]),
    ("stdalign.h", &[ALIGN]),
    ("stdnoreturn.h", &[ALIGN]),
    ("signal.h", &[]),
    ("setjmp.h", &[]),
    ("ctype.h", &[]),
    ("math.h", &[]),
    ("features.h", &[]),
    ("endian.h", &[]),
    ("fcntl.h", &[NULL]),
    ("sys/cdefs.h", &[]),
    ("sys/types.h", &[]),
    ("sys/time.h", &[NULL]),
    ("sys/stat.h", &[]),
    ("sys/param.h", &[]),
    ("sys/mman.h", &[NULL]),
    ("sys/wait.h", &[]),
    ("sys/syscall.h", &[]),
    ("linux/futex.h", &[]),
    ("genmc.h", &[GENMC, NULL]),
    ("genmc_internal.h", &[NULL]),
    ("lkmm.h", &[KERNEL, NULL]),
];

/// Beginnings of the names of headers of which there are many, with what they define. Others of the same folders are
/// the code that is to be checked.
const FAMILIES: &[(&str, &[Group])] = &[
    ("vsync/atomic", VSYNC_ALL),
    ("vsync/common/", VSYNC_ALL),
    ("vsync/vtypes", VSYNC_ALL),
    ("vsync/verify", VSYNC_ALL),
    ("test/", VSYNC_ALL),
    ("linux/", &[KERNEL, NULL, BOOL]),
    ("asm/", &[KERNEL, NULL, BOOL]),
    ("asm-generic/", &[KERNEL, NULL, BOOL]),
];

const VSYNC_ALL: &[Group] = &[VSYNC, NULL, STDINT, BOOL, LIMITS, ASSERT];

fn groups(header: &str) -> Option<&'static [Group]> {
    let alone = HEADERS.iter().find(|(name, _)| *name == header);
    let groups = alone.or_else(|| FAMILIES.iter().find(|(start, _)| header.starts_with(start)));
    groups.map(|&(_, groups)| groups)
}

/// Whether a header needs no file.
pub(crate) fn is_known(header: &str) -> bool {
    groups(header).is_some()
}

/// Whether a header is known whatever files there are: those of kernels are not, as programs bring their own.
pub(crate) fn comes_first(header: &str) -> bool {
    is_known(header)
        && !header.starts_with("test/")
        && !header.starts_with("linux/")
        && !header.starts_with("asm/")
        && !header.starts_with("asm-generic/")
}

/// What a header defines: each as it would stand behind `#define`.
pub(crate) fn macros(header: &str) -> impl Iterator<Item = &'static str> {
    let own = groups(header).map(|groups| groups.iter().chain([&DECLARATIONS]));
    own.into_iter().flatten().flat_map(|group| group.iter().copied())
}

/// A type of a header.
pub(crate) struct HeaderType {
    pub(crate) kind: HeaderKind,
    pub(crate) is_atomic: bool,
}

/// What a type of a header is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderKind {
    Bool,
    Integer {
        bits: u8,
        is_signed: bool,
    },
    Builtin(BuiltinType),
    /// `void *`
    Pointer,
}

impl HeaderKind {
    /// As a type, unless it is a pointer.
    pub(crate) fn plain(self) -> Option<TypeKind> {
        match self {
            Self::Bool => Some(TypeKind::Bool),
            Self::Integer { bits, is_signed } => Some(TypeKind::Integer { bits, is_signed }),
            Self::Builtin(it) => Some(TypeKind::Builtin(it)),
            Self::Pointer => None,
        }
    }
}

const fn signed(bits: u8) -> HeaderKind {
    HeaderKind::Integer { bits, is_signed: true }
}

const fn unsigned(bits: u8) -> HeaderKind {
    HeaderKind::Integer { bits, is_signed: false }
}

/// The type of the system with this name, where the user declares no such name.
pub(crate) fn type_named(name: &str) -> Option<HeaderType> {
    if let Some(kind) = plain_type(name) {
        return Some(HeaderType { kind, is_atomic: false });
    }
    let of_atomic = |rest| atomic_type(rest).or_else(|| plain_type(&format!("{rest}_t")).filter(|_| is_stdint(rest)));
    let kind = match name {
        // Those of kernels; C's own have longer names.
        "atomic_t" => Some(signed(32)),
        "atomic64_t" | "atomic_long_t" => Some(signed(64)),
        "vatomic8_t" => Some(unsigned(8)),
        "vatomic16_t" => Some(unsigned(16)),
        "vatomic32_t" => Some(unsigned(32)),
        "vatomic64_t" | "vatomicsz_t" => Some(unsigned(64)),
        "vatomicptr_t" => Some(HeaderKind::Pointer),
        _ => name.strip_prefix("atomic_").and_then(|rest| of_atomic(rest.strip_suffix("_t").unwrap_or(rest))),
    };
    kind.map(|kind| HeaderType { kind, is_atomic: true })
}

/// What `atomic_…` is atomic of.
fn atomic_type(rest: &str) -> Option<HeaderKind> {
    match rest {
        "bool" => Some(HeaderKind::Bool),
        "char" | "schar" => Some(signed(8)),
        "uchar" | "char8" => Some(unsigned(8)),
        "short" => Some(signed(16)),
        "ushort" | "char16" => Some(unsigned(16)),
        "int" | "wchar" => Some(signed(32)),
        "uint" | "char32" => Some(unsigned(32)),
        "long" | "llong" => Some(signed(64)),
        "ulong" | "ullong" => Some(unsigned(64)),
        _ => None,
    }
}

/// Whether `atomic_…_t` is named after a type of `stdint.h` or `stddef.h`.
fn is_stdint(rest: &str) -> bool {
    rest.starts_with("int") || rest.starts_with("uint") || matches!(rest, "size" | "ptrdiff")
}

fn plain_type(name: &str) -> Option<HeaderKind> {
    integer_type(name).or_else(|| system_type(name).map(HeaderKind::Builtin))
}

fn integer_type(name: &str) -> Option<HeaderKind> {
    Some(match name {
        "bool" | "vbool_t" => HeaderKind::Bool,
        "int8_t" | "int_least8_t" | "int_fast8_t" | "s8" | "__s8" | "vint8_t" => signed(8),
        "int16_t" | "int_least16_t" | "s16" | "__s16" | "vint16_t" => signed(16),
        "int32_t" | "int_least32_t" | "s32" | "__s32" | "vint32_t" | "wchar_t" | "pid_t" | "clockid_t" => signed(32),
        "int64_t" | "int_least64_t" | "int_fast16_t" | "int_fast32_t" | "int_fast64_t" | "s64" | "__s64"
        | "vint64_t" | "intptr_t" | "vintptr_t" | "intmax_t" | "ptrdiff_t" | "ssize_t" | "off_t" | "time_t" => {
            signed(64)
        }
        "uint8_t" | "uint_least8_t" | "uint_fast8_t" | "u8" | "__u8" | "vuint8_t" | "char8_t" => unsigned(8),
        "uint16_t" | "uint_least16_t" | "u16" | "__u16" | "vuint16_t" | "char16_t" => unsigned(16),
        "uint32_t" | "uint_least32_t" | "u32" | "__u32" | "vuint32_t" | "uint" | "char32_t" | "useconds_t" => {
            unsigned(32)
        }
        "uint64_t" | "uint_least64_t" | "uint_fast16_t" | "uint_fast32_t" | "uint_fast64_t" | "u64" | "__u64"
        | "vuint64_t" | "uintptr_t" | "vuintptr_t" | "uintmax_t" | "size_t" | "vsize_t" | "ulong" => unsigned(64),
        "pthread_once_t" | "once_flag" | "tss_t" | "sig_atomic_t" | "mode_t" | "pthread_key_t" => signed(32),
        _ => return None,
    })
}

fn system_type(name: &str) -> Option<BuiltinType> {
    Some(match name {
        "pthread_t" | "thrd_t" | "__VERIFIER_thread_t" => BuiltinType::Thread,
        "pthread_mutex_t" | "__VERIFIER_mutex_t" | "mtx_t" | "spinlock_t" | "raw_spinlock_t" | "pthread_spinlock_t" => {
            BuiltinType::Mutex
        }
        "pthread_cond_t" | "cnd_t" | "__VERIFIER_cond_t" => BuiltinType::Condition,
        "pthread_rwlock_t" => BuiltinType::RwLock,
        "pthread_barrier_t" | "__VERIFIER_barrier_t" => BuiltinType::Barrier,
        "pthread_attr_t"
        | "pthread_mutexattr_t"
        | "pthread_condattr_t"
        | "pthread_rwlockattr_t"
        | "pthread_barrierattr_t" => BuiltinType::Attributes,
        "atomic_flag" => BuiltinType::AtomicFlag,
        "memory_order" => BuiltinType::MemoryOrder,
        "FILE" => BuiltinType::File,
        "va_list" | "__builtin_va_list" | "__gnuc_va_list" => BuiltinType::VaList,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{HEADERS, HeaderKind, comes_first, is_known, macros, signed, type_named, unsigned};
    use crate::ast::BuiltinType;

    #[track_caller]
    fn check(name: &str, kind: HeaderKind, is_atomic: bool) {
        let found = type_named(name).expect("it is a type");
        assert_eq!((found.kind, found.is_atomic), (kind, is_atomic), "{name}");
    }

    #[test]
    fn types_are_known_by_their_names() {
        check("uint32_t", unsigned(32), false);
        check("atomic_int", signed(32), true);
        check("atomic_uint_fast8_t", unsigned(8), true);
        check("atomic_uintptr_t", unsigned(64), true);
        check("atomic_size_t", unsigned(64), true);
        check("atomic_bool", HeaderKind::Bool, true);
        check("atomic_flag", HeaderKind::Builtin(BuiltinType::AtomicFlag), false);
        check("pthread_t", HeaderKind::Builtin(BuiltinType::Thread), false);
        check("vatomic32_t", unsigned(32), true);
        check("vatomicptr_t", HeaderKind::Pointer, true);
        for name in ["atomic_load", "atomic_thread_fence", "atomic_pid_t", "integer", "x", "atomic_"] {
            assert!(type_named(name).is_none(), "{name}");
        }
    }

    #[test]
    fn headers_are_listed_once() {
        for (at, (name, _)) in HEADERS.iter().enumerate() {
            assert!(HEADERS[..at].iter().all(|(other, _)| other != name), "{name}");
        }
        assert!(is_known("vsync/atomic.h") && !is_known("vsync/spinlock/mcslock.h") && !is_known("mine.h"));
        assert!(is_known("linux/types.h") && !comes_first("linux/types.h") && comes_first("assert.h"));
        assert!(macros("pthread.h").any(|it| it.starts_with("NULL ")));
    }
}
