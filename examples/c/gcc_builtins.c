// The builtins of gcc: a lock by exchange, a counter by addition.
// source: written for this collection
// expect sc: safe (the lock excludes)
// expect tso: safe (the lock excludes)
// expect pso: safe (unlocking releases)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

int lock;
int counter;

void *worker(void *arg)
{
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        ;
    __atomic_store_n(&counter, __atomic_load_n(&counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
