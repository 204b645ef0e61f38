// A test-and-set lock whose release is relaxed: a race, and wrong where stores are reordered.
// source: folklore
// expect sc: safe (the lock excludes)
// expect tso: safe (stores stay in order)
// expect pso: unsafe (the lock is free before the counter is written)
// expect sc race: unsafe (a relaxed store releases nothing)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef N
#define N 2
#endif

static void acquire(atomic_flag *lock)
{
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire))
        ;
}

static void release(atomic_flag *lock)
{
    atomic_flag_clear_explicit(lock, memory_order_relaxed);
}

atomic_flag lock;
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
