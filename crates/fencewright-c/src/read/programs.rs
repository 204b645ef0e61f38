//! Programs as people write them for checkers of memory models: each is read without a word.

use super::{show, tests::read};

/// A name, and a program.
pub(super) const PROGRAMS: &[(&str, &str)] = &[
    (
        "store buffering",
        r"#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int a, b;
int seen[2];
void *left(void *unused) {
    atomic_store_explicit(&a, 1, memory_order_relaxed);
    seen[0] = atomic_load_explicit(&b, memory_order_relaxed);
    return NULL;
}
void *right(void *unused) { b = 1; seen[1] = a; return NULL; }
int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], NULL, left, NULL);
    pthread_create(&t[1], 0, right, (void *)0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(seen[0] || seen[1]);
    return 0;
}",
    ),
    (
        "a ticket lock",
        r"typedef struct { _Atomic unsigned next, owner; } ticket_t;
static inline void lock(ticket_t *l) {
    unsigned mine = atomic_fetch_add_explicit(&l->next, 1u, memory_order_relaxed);
    while (atomic_load_explicit(&l->owner, memory_order_acquire) != mine) ;
}
static inline void unlock(ticket_t *l) {
    unsigned o = atomic_load_explicit(&l->owner, memory_order_relaxed);
    atomic_store_explicit(&l->owner, o + 1, memory_order_release);
}
ticket_t l = { ATOMIC_VAR_INIT(0), .owner = 0 };",
    ),
    (
        "an MCS lock",
        r"struct mcs { _Atomic(struct mcs *) next; atomic_bool locked; };
typedef _Atomic(struct mcs *) mcs_t;
void acquire(mcs_t *lock, struct mcs *me) {
    atomic_store(&me->next, 0); atomic_store(&me->locked, true);
    struct mcs *before = atomic_exchange(lock, me);
    if (!before) return;
    atomic_store_explicit(&before->next, me, memory_order_release);
    do { } while (atomic_load_explicit(&me->locked, memory_order_acquire));
}
void release(mcs_t *lock, struct mcs *me) {
    struct mcs *next = atomic_load(&me->next), *expected = me;
    if (next == ((void *)0)) {
        if (atomic_compare_exchange_strong(lock, &expected, (struct mcs *)0)) return;
        while (!(next = atomic_load(&me->next))) continue;
    }
    atomic_store(&next->locked, false);
}",
    ),
    (
        "a CLH lock",
        r"#include <vsync/atomic.h>
typedef struct clh_node { vatomic32_t locked; } clh_node_t;
typedef struct { vatomicptr(clh_node_t *) tail; clh_node_t initial; } clhlock_t;
typedef struct { vatomicptr(clh_node_t *) pred; clh_node_t *node; } thread_node;",
    ),
    (
        "Dekker's algorithm",
        r"#ifndef ORDER
#define ORDER memory_order_seq_cst
#endif
_Atomic int flag[2], turn; int critical;
static void enter(int me) {
    atomic_store_explicit(&flag[me], 1, ORDER);
    while (atomic_load_explicit(&flag[1 - me], ORDER)) {
        if (atomic_load_explicit(&turn, ORDER) == me) continue;
        atomic_store_explicit(&flag[me], 0, ORDER);
        while (atomic_load_explicit(&turn, ORDER) != me)
            ;
        atomic_store_explicit(&flag[me], 1, ORDER);
    }
}",
    ),
    (
        "Peterson's algorithm in kernel style",
        r"#include <lkmm.h>
int flag[2], turn;
static __always_inline void lock(int me)
{
	WRITE_ONCE(flag[me], 1);
	smp_store_release(&turn, !me);
	smp_mb();
	while (READ_ONCE(flag[!me]) && smp_load_acquire(&turn) == !me)
		cpu_relax();
}
DEFINE_SPINLOCK(l);
void f(void) { spin_lock(&l); rcu_read_lock(); BUG_ON(xchg(&turn, 1) == cmpxchg(&turn, 0, 1)); spin_unlock(&l); }
EXPORT_SYMBOL_GPL(lock);",
    ),
    (
        "a litmus test with variants",
        r#"#include <stdio.h>
#include <stdlib.h>
#include <genmc.h>
#ifdef MAKE_RELAXED
# define mo_st relaxed
#elif defined(MAKE_SC) && MAKE_SC + 0 > 1
# define mo_st seq_cst
#else
# define mo_st release
#endif
#define M2(x) memory_order_##x
#define M(x) M2(x)
#define THREAD(n, v) void *thread_##n(void *arg) { atomic_store_explicit(&x, v, M(mo_st)); return NULL; }
atomic_int x;
THREAD(1, 1)
THREAD(2, 2)
int main() {
    pthread_t t1, t2;
    if (pthread_create(&t1, NULL, thread_1, NULL)) abort();
    if (pthread_create(&t2, NULL, thread_2, NULL)) { fprintf(stderr, "no " "thread %d\n", 2); exit(1); }
    __VERIFIER_assume(x == 2);
    __VERIFIER_final_write(x = 3;);
    if (__VERIFIER_final_CAS(atomic_compare_exchange_weak(&x, &(int){ 3 }, 4))) return 1;
    return 0;
}"#,
    ),
    (
        "a Treiber stack",
        r"#include <stdlib.h>
struct node { int value; struct node *next; };
struct stack { struct node *_Atomic top; } stack;
void push(struct stack *s, int value) {
    struct node *n = malloc(sizeof *n);
    n->value = value;
    struct node *top = atomic_load_explicit(&s->top, memory_order_relaxed);
    do n->next = top;
    while (!atomic_compare_exchange_weak_explicit(&s->top, &top, n, memory_order_release, memory_order_relaxed));
}
int pop(struct stack *s, int *value) {
    for (struct node *top = s->top; top; ) {
        if (atomic_compare_exchange_weak(&s->top, &top, top->next)) { *value = top->value; free(top); return 1; }
    }
    return 0;
}",
    ),
    (
        "a queue of Michael and Scott, with pointers that are tagged",
        r"#include <stdint.h>
#include <stdbool.h>
#define POOL 4
typedef unsigned long long pointer; typedef atomic_ullong pointer_t;
#define MAKE_LONG(lo, hi) ((lo) + ((pointer)(hi) << 32))
static inline unsigned int get_count(pointer p) { return (p & 0xffffffff00000000LL) >> 32; }
static inline unsigned get_ptr(pointer p) { return p & 0xffffffffLL; }
typedef struct node { unsigned value; pointer_t next; } node_t;
typedef struct { pointer_t head, tail; node_t nodes[POOL + 1]; } queue_t;
bool dequeue(queue_t *q, unsigned *out) {
    bool success = false;
    while (!success) {
        pointer head = atomic_load(&q->head), next = atomic_load(&q->nodes[get_ptr(head)].next);
        *out = q->nodes[get_ptr(next)].value;
        success = atomic_compare_exchange_strong(&q->head, &head, MAKE_LONG(get_ptr(next), get_count(head) + 1));
    }
    return true;
}",
    ),
    (
        "a work-stealing queue",
        r"#define LEN 8
typedef struct Deque { _Atomic int64_t bottom, top; atomic_int buffer[LEN]; } Deque;
#define deque_of(...) (&(Deque){ __VA_ARGS__ })
int64_t try_pop(Deque *q, int64_t *val) {
    int64_t b = atomic_load_explicit(&q->bottom, memory_order_relaxed) - 1;
    q->bottom = b;
    atomic_thread_fence(memory_order_seq_cst);
    int64_t t = q->top;
    if (b < t) { q->bottom = b + 1; return -1; }
    *val = q->buffer[b % LEN];
    if (b > t) return 0;
    int ret = atomic_compare_exchange_strong(&q->top, &t, t + 1) ? 0 : -1;
    return (q->bottom = b + 1, ret);
}
Deque *d = deque_of(.bottom = 0, .top = 0);",
    ),
    (
        "a sequence lock",
        r"static volatile unsigned seq; static int data[2];
unsigned read_begin(void) { unsigned s; do { s = seq; } while (s & 1); __sync_synchronize(); return s; }
#define read_retry(s) ({ __sync_synchronize(); seq != (s); })
int reader(void) { unsigned s; int a, b; 
    do { s = read_begin(); a = data[0]; b = data[1]; } while (read_retry(s));
    return a == b;
}",
    ),
    (
        "a readers-writer lock",
        r"#define RW_LOCK_BIAS 0x00100000
#define WRITE_LOCK_CMP RW_LOCK_BIAS
typedef union { atomic_int lock; } rwlock_t;
static inline int can_read(rwlock_t *lock) { return atomic_load(&lock->lock) > 0; }
static inline void read_lock(rwlock_t *rw) {
    int prior = atomic_fetch_sub(&rw->lock, 1);
    while (prior <= 0) {
        atomic_fetch_add(&rw->lock, 1); while (!can_read(rw)) sched_yield();
        prior = atomic_fetch_sub(&rw->lock, 1); }
}",
    ),
    (
        "a futex mutex",
        r"#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
static int mutex;
static int futex(int *uaddr, int op, int val) { return syscall(SYS_futex, uaddr, op, val, NULL, NULL, 0); }
void lock(void) {
    int c = __sync_val_compare_and_swap(&mutex, 0, 1);
    if (c == 0) return;
    if (c != 2) c = __atomic_exchange_n(&mutex, 2, __ATOMIC_ACQUIRE);
    while (c) { futex(&mutex, 0, 2); c = __atomic_exchange_n(&mutex, 2, __ATOMIC_ACQUIRE); }
}",
    ),
    (
        "threads of C11",
        r"#include <threads.h>
mtx_t m; cnd_t c; once_flag o = ONCE_FLAG_INIT; thread_local int mine;
int run(void *arg) { mtx_lock(&m); while (mine) cnd_wait(&c, &m); mtx_unlock(&m); return *(int *)arg; }
int main(void) {
    thrd_t t; int one = 1;
    if (thrd_create(&t, run, &one) != thrd_success) return 1; return thrd_join(t, 0); }",
    ),
    (
        "mutexes in a ring",
        r"pthread_mutex_t m[3] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *run(void *arg) {
    int i = (int)(intptr_t)arg;
    pthread_mutex_lock(&m[i]); pthread_mutex_lock(m + (i + 1) % 3);
    pthread_mutex_unlock(&m[(i + 1) % 3]), pthread_mutex_unlock(&m[i]);
    return (void *)(uintptr_t)(i ^ 1);
}",
    ),
    (
        "a lock of libvsync with its test",
        r#"#include <vsync/atomic.h>
#include <vsync/vtypes.h>
#include <test/thread_launcher.h>
#ifndef NTHREADS
    #define NTHREADS 3U
#endif
typedef struct ttaslock_s { vatomic32_t lock; } ttaslock_t;
#define TTASLOCK_INIT() { .lock = VATOMIC_INIT(0) }
static inline void ttaslock_acquire(ttaslock_t *l)
{
    while (1) {
        vatomic32_await_eq_rlx(&l->lock, 0);
        if (!vatomic32_xchg_acq(&l->lock, 1)) {
            return;
        }
    }
}
static inline vbool_t ttaslock_tryacquire(ttaslock_t *l) { return vatomic32_cmpxchg_acq(&l->lock, 0U, 1U) == 0U; }
ttaslock_t lock = TTASLOCK_INIT();
vuint32_t g_cs_x;
void *run(void *arg) {
    vsize_t tid = (vsize_t)(vuintptr_t)arg; V_UNUSED(tid);
    ttaslock_acquire(&lock); g_cs_x++; vatomic32_write_rel(&lock.lock, 0); return NULL; }
int main(void) { launch_threads(NTHREADS, run); ASSERT(g_cs_x == NTHREADS && "lost"); return 0; }"#,
    ),
    (
        "fences in assembly",
        r#"#define mb() __asm__ __volatile__("mfence" ::: "memory")
#define barrier() asm volatile("" ::: "memory")
static inline void locked(int *p) {
    asm volatile("lock; addl $0,0(%%rsp)" : "+m"(*p) : "r"(1), [x] "i"(2) : "memory", "cc"); }
int x, y; void f(void) { x = 1; mb(); barrier(); (void)y; locked(&x); }"#,
    ),
    (
        "a barrier",
        r"struct barrier { const int n; _Atomic int count; _Atomic _Bool sense; } bar = { 2 };
static __thread _Bool local_sense = 1;
void wait(struct barrier *b) {
    _Bool mine = !local_sense;
    if (atomic_fetch_sub(&b->count, 1) == 1) { b->count = b->n; b->sense = mine; }
    else for (;;) if (b->sense == mine) break;
    local_sense = mine;
}",
    ),
    (
        "double-checked locking",
        r"struct thing { int a; } storage; struct thing *_Atomic instance; pthread_mutex_t m;
struct thing *get(void) {
    struct thing *t = atomic_load_explicit(&instance, memory_order_acquire);
    if (t) goto out;
    pthread_mutex_lock(&m);
    if (!(t = instance)) { storage = (struct thing){ .a = 1 }; t = &storage; instance = t; }
    pthread_mutex_unlock(&m);
out:
    return t;
}",
    ),
    (
        "a state machine",
        r"enum state { IDLE, WAITING = 4, DONE = WAITING << 1, } ; static enum state s = IDLE;
int step(enum state now) {
    switch (now) {
    case IDLE: s = WAITING; break;
    case WAITING:
    case DONE: { int x = 1; return x; }
    default:
        ;
    }
    return now == DONE ? 1 : 0;
}",
    ),
    (
        "function pointers",
        r"typedef void *(*start_t)(void *);
struct ops { int (*get)(const struct ops *); void (*put)(struct ops *, int); };
static int zero(const struct ops *o) { return (void)o, 0; }
static const struct ops table[] = { [0] = { .get = zero }, { zero, ((void *)0) } };
int call(start_t f, int (*g)(int), int (*h[2])(void)) {
    f(0); (*g)(1);
    return h[1]() + table[0].get(&table[0]) + (&table[1])->get(table); }",
    ),
    (
        "hazard pointers",
        r"#define HP(i) hp[(i)].p
struct hazard { _Atomic(void *) p; char pad[64 - sizeof(void *)]; } __attribute__((aligned(64))) hp[2];
void *protect(_Atomic(void *) *from, unsigned i) {
    void *p;
    do { p = *from; HP(i) = p; } while (p != *from); return p; }",
    ),
    (
        "variadic macros",
        r##"#define LOG(fmt, ...) printf("%s:%d " fmt "\n", __FILE__, __LINE__, ##__VA_ARGS__)
#define ALL(args...) f(args)
#define STR(x) #x
#define XSTR(x) STR(x)
#define CAT(a, b) a##b
#define XCAT(a, b) CAT(a, b)
#define UNIQUE XCAT(x, __COUNTER__)
void g(void) {
  LOG("a"); LOG("b %d", 1); ALL(); ALL(1, 2);
  puts(XSTR(CAT(a, 1))); int CAT(y, 1) = 2, UNIQUE, UNIQUE; }"##,
    ),
    (
        "a list of operations by a macro",
        r"#define OPS(X) X(add, +) X(sub, -) X(or, |)
#define DEFINE(name, op) static int do_##name(int a, int b) { return a op b; }
OPS(DEFINE)
#undef DEFINE
#define DEFINE(name, op) do_##name,
int (*all[])(int, int) = { OPS(DEFINE) };",
    ),
    (
        "nondeterminism",
        r#"extern int __VERIFIER_nondet_int(void); extern void __VERIFIER_error(void) __attribute__((__noreturn__));
extern void __assert_fail(const char *, const char *, unsigned int, const char *)
    __attribute__((__nothrow__, __leaf__));
void reach_error(void) { __assert_fail("0", "file.c", 3, __extension__ __PRETTY_FUNCTION__); }
void __VERIFIER_atomic_take(int *l) { __VERIFIER_assume(*l == 0); *l = 1; }
int main() { int n = __VERIFIER_nondet_int(); if (!(n > 0 && n < 5)) { ERROR: {reach_error(); abort();} } return 0; }"#,
    ),
    (
        "Szymanski's algorithm with gotos",
        r"atomic_int flag1, flag2; int x;
void *thr1(void *arg) {
    int f;
start: flag1 = 1;
    f = flag2; if (f >= 3) goto start;
    flag1 = 3;
    if ((f = flag2) == 1) { flag1 = 2; while ((f = flag2) != 4) { ; } }
    flag1 = 4; x = 0; assert(x <= 0); flag1 = 0;
    return 0;
}",
    ),
    (
        "Lamport's fast mutex",
        r"#define N 2
atomic_int x, y, b[N + 1]; int owner;
void lock(int i) {
    for (;;) {
        b[i] = 1; x = i;
        if (y != 0) { b[i] = 0; while (y != 0); continue; }
        y = i;
        if (x != i) {
            b[i] = 0;
            for (int j = 1; j <= N; ++j) while (b[j] != 0) { }
            if (y != i) { while (y != 0) {} continue; }
        }
        break;
    }
}",
    ),
    (
        "RCU by flags",
        r"struct item { int v; } a = { 1 }, b = { .v = 2 }; struct item *current = &a; _Atomic char reading[2];
static void reader(unsigned id) {
    reading[id] = 1; smp_mb(); struct item *p = rcu_dereference(current);
    int v = p->v; reading[id] = 0; assert(v == 1 || v == 2); }
static void writer(void) {
    struct item *old = current; rcu_assign_pointer(current, &b); smp_mb();
    for (size_t i = 0; i < sizeof reading / sizeof reading[0]; i++) while (reading[i]); old->v = -1; }",
    ),
    (
        "a counter with thread arguments in a structure",
        r"struct arg { int id; int *sum; struct { int lo, hi; } range; };
static struct arg args[] = { { 0, 0, { 0, 1 } }, { 1, 0, { 1, 2 } } };
void *run(void *p) {
    struct arg *arg = p; const struct arg copy = *arg;
    for (int i = copy.range.lo; i < arg->range.hi; i += 1) *arg->sum += i * -1; return p; }",
    ),
    (
        "conditions of the preprocessor",
        r#"#if defined(__GNUC__) && (__GNUC__ > 3 || __GNUC__ == 3 && __GNUC_MINOR__ >= 1) && !defined NOTHING
#  if __has_include(<stdatomic.h>) && !__has_include("none.h") && 'a' == 97 && (1 ? 2 : 0) == 2 && 1u > -1 == 0
int good;
#  else
#    error "this isn't taken"
#  endif
#elif 1 / 0
#endif
#ifdef __STDC_VERSION__ /* c */
#if __STDC_VERSION__ >= 201112L && ~0 == -1 && (7 & 3 | 8) == 11 && 1 << 2 == 4 // c
int better;
#endif // __STDC_VERSION__
#endif /* and
more */
#pragma GCC diagnostic ignored "-Wall"
# 12 "other.c"
#line 3
#"#,
    ),
    (
        "old ways to write things",
        r"main() { static x = 1; register int i; auto int j = 0;
struct p { int a, b; } q = { a: 1, b: 2 }; for (i = 0; i < 2; i++) j += q.a; return j + x; }",
    ),
    (
        "long declarations",
        r#"static const unsigned long long int *const volatile p = 0;
extern const char *const names[], *(*(*f)(void))[3];
unsigned u; long l; signed char c = '\x41', d = L'\0';
typedef unsigned int uint; typedef uint u32; u32 (x), *(y), (*z)[2]; 
int (*(*fp)(int (*)(void), ...))[2]; char s[] = { 'a', 'b', '\0' }, t[4] = "abc";"#,
    ),
];

#[test]
fn all_are_read() {
    for (name, text) in PROGRAMS {
        let (_, unit, diagnostics) = read(&[("t.c", text)], &[]);
        assert!(diagnostics.is_empty(), "{name}: {diagnostics:#?}");
        assert!(!unit.items.is_empty(), "{name}");
    }
}

#[test]
fn macros_make_the_same_as_what_they_stand_for() {
    let shown = |name: &str| {
        let (_, text) = PROGRAMS.iter().find(|(it, _)| *it == name).expect("it is there");
        show::unit(&read(&[("t.c", text)], &[]).1)
    };
    assert_eq!(
        shown("a list of operations by a macro"),
        "fn do_add(a: i32, b: i32): i32 { return (a + b); }\n\
         fn do_sub(a: i32, b: i32): i32 { return (a - b); }\n\
         fn do_or(a: i32, b: i32): i32 { return (a | b); }\n\
         all: []*fn(_: i32, _: i32): i32 = {do_add, do_sub, do_or}"
    );
    assert_eq!(
        shown("variadic macros"),
        "fn g(): void { printf(\"%s:%d a\\n\", \"t.c\", 9); printf(\"%s:%d b %d\\n\", \"t.c\", 9, 1); f(); f(1, 2); \
         puts(\"a1\"); y1: i32 = 2, x0: i32, x1: i32; }"
    );
    assert!(shown("a litmus test with variants").contains("atomic_store_explicit(&x, 2, memory_order_release)"));
}
