// Data that is not atomic under a lock with a test before the exchange, for any number of threads.
// source: Rudolph and Segall, Dynamic decentralized cache schemes for MIMD parallel processors, 1984
// expect sc: safe
// expect tso: safe
// expect pso: safe
// expect sc race: safe (each holder acquires what the one before released)
// expect tso race: safe
// expect pso race: safe

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int lock;
int inside;

// fencewright: thread worker(NULL) any
void *worker(void *argument)
{
    (void)argument;
    while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
        while (atomic_load_explicit(&lock, memory_order_relaxed))
            ;
    inside = 1;
    assert(inside == 1);
    inside = 0;
    atomic_store_explicit(&lock, 0, memory_order_release);
    return NULL;
}
