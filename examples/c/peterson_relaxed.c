// Peterson's lock with relaxed accesses: broken on every machine that buffers stores.
// source: Peterson, Myths about the mutual exclusion problem, 1981
// expect sc: safe (Peterson's proof)
// expect tso: unsafe (both threads read what the other has not stored yet)
// expect pso: unsafe (as under TSO)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int interested[2];
atomic_int turn;
atomic_int inside;

static void lock(int self)
{
    int other = 1 - self;

    atomic_store_explicit(&interested[self], 1, memory_order_relaxed);
    atomic_store_explicit(&turn, other, memory_order_relaxed);
    while (atomic_load_explicit(&interested[other], memory_order_relaxed) == 1 &&
           atomic_load_explicit(&turn, memory_order_relaxed) == other)
        ;
}

static void unlock(int self)
{
    atomic_store_explicit(&interested[self], 0, memory_order_release);
}

void *worker(void *arg)
{
    int self = (int) (long) arg;

    for (;;) {
        lock(self);
        assert(atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed) == 0);
        atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
        unlock(self);
    }
}

int main(void)
{
    pthread_t threads[2];

    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, (void *) i);
    for (long i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
