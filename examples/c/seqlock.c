// A sequence lock with one writer: the reader takes what it read only if nothing was written meanwhile.
// source: Boehm, Can seqlocks get along with programming language memory models?, 2012
// expect sc: safe (both halves are read between two equal even numbers)
// expect tso: safe (stores and loads stay in order)
// expect pso: safe (the fence keeps the stores in order)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int sequence;
atomic_int low, high;

void *writer(void *arg)
{
    for (int i = 1; i <= 2; i++) {
        int now = atomic_load_explicit(&sequence, memory_order_relaxed);

        atomic_store_explicit(&sequence, now + 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&low, i, memory_order_relaxed);
        atomic_store_explicit(&high, i, memory_order_relaxed);
        atomic_store_explicit(&sequence, now + 2, memory_order_release);
    }
    return NULL;
}

void *reader(void *arg)
{
    int before, after, l, h;

    do {
        before = atomic_load_explicit(&sequence, memory_order_acquire);
        l = atomic_load_explicit(&low, memory_order_relaxed);
        h = atomic_load_explicit(&high, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(&sequence, memory_order_relaxed);
    } while (before != after || before % 2 != 0);
    assert(l == h);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
