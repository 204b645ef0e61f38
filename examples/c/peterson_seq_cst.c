// Peterson's lock, sequentially consistent, for ever.
// source: Peterson, Myths about the mutual exclusion problem, 1981
// expect sc: safe (Peterson's proof)
// expect tso: safe (every store leaves the buffer at once)
// expect pso: safe (as under TSO)

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

    atomic_store_explicit(&interested[self], 1, memory_order_seq_cst);
    atomic_store_explicit(&turn, other, memory_order_seq_cst);
    while (atomic_load_explicit(&interested[other], memory_order_seq_cst) == 1 &&
           atomic_load_explicit(&turn, memory_order_seq_cst) == other)
        ;
}

static void unlock(int self)
{
    atomic_store_explicit(&interested[self], 0, memory_order_seq_cst);
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
