// A spinlock around data, for any number of threads.
// source: folklore; the same in .fw is any/spinlock_counter_fenced.fw
// expect sc: safe
// expect tso: safe (stores reach memory in order: the lock is free after the data is there)
// expect pso: safe (the release store waits for the data)

#include <assert.h>
#include <stdatomic.h>

atomic_int lock;
atomic_int data;

// fencewright: thread worker() any
void worker(void)
{
    for (;;) {
        while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
            ;
        int before = atomic_load_explicit(&data, memory_order_relaxed);
        atomic_store_explicit(&data, 1 - before, memory_order_relaxed);
        assert(atomic_load_explicit(&data, memory_order_relaxed) == 1 - before);
        atomic_store_explicit(&lock, 0, memory_order_release);
    }
}
