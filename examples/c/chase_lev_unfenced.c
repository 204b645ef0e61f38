// The work-stealing deque of Chase and Lev without the owner's fence.
// source: Le, Pop, Cohen and Zappa Nardelli, Correct and efficient work-stealing for weak memory models, 2013
// expect sc: safe (every element is taken once at most)
// expect tso: unsafe (the owner reads top before its store to bottom is seen)
// expect pso: unsafe (as under TSO)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int top, bottom;
atomic_int taken;

void *owner(void *arg)
{
    int b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    int t;

    atomic_store_explicit(&bottom, b, memory_order_relaxed);
    t = atomic_load_explicit(&top, memory_order_relaxed);
    if (t < b) {
        atomic_fetch_add(&taken, 1);
    } else if (t == b) {
        if (atomic_compare_exchange_strong(&top, &t, t + 1))
            atomic_fetch_add(&taken, 1);
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    } else {
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
    return NULL;
}

void *thief(void *arg)
{
    int t = atomic_load_explicit(&top, memory_order_acquire);

    atomic_thread_fence(memory_order_seq_cst);
    if (t < atomic_load_explicit(&bottom, memory_order_acquire))
        if (atomic_compare_exchange_strong(&top, &t, t + 1))
            atomic_fetch_add(&taken, 1);
    return NULL;
}

int main(void)
{
    pthread_t o, s, t;

    bottom = 2;
    pthread_create(&o, NULL, owner, NULL);
    pthread_create(&s, NULL, thief, NULL);
    pthread_create(&t, NULL, thief, NULL);
    pthread_join(o, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    assert(taken <= 2);
    return 0;
}
