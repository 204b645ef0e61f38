// A test-and-test-and-set lock.
// source: Rudolph and Segall, 1984
// expect sc: safe (the lock excludes)
// expect tso: safe (updates empty the buffer, and stores stay in order)
// expect pso: safe (the lock is released behind what it protects)
// expect sc race: safe (the lock orders the accesses to the counter)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef N
#define N 3
#endif

static void acquire(atomic_int *lock)
{
    do {
        while (atomic_load_explicit(lock, memory_order_relaxed) != 0)
            ;
    } while (atomic_exchange_explicit(lock, 1, memory_order_acquire) != 0);
}

static void release(atomic_int *lock)
{
    atomic_store_explicit(lock, 0, memory_order_release);
}

atomic_int lock;
int counter;

void *worker(void *arg)
{
    acquire(&lock);
    counter = counter + 1;
    release(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[N];

    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N);
    return 0;
}
