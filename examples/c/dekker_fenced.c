// Dekker's lock with a fence behind each wish and relaxed accesses: enough for x86, too little elsewhere.
// source: Dijkstra, Cooperating sequential processes, 1965
// expect sc: safe (mutual exclusion)
// expect tso: safe (the fence keeps the load behind the store)
// expect pso: unsafe (the lock is given back before the data is there)
// expect sc race: unsafe (relaxed accesses tell nothing of the data)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_bool wants[2];
atomic_int turn;
int inside;

void *worker(void *arg)
{
    int me = (int)(long)arg, other = 1 - me;

    atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    while (atomic_load_explicit(&wants[other], memory_order_relaxed)) {
        if (atomic_load_explicit(&turn, memory_order_relaxed) != me) {
            atomic_store_explicit(&wants[me], 0, memory_order_relaxed);
            while (atomic_load_explicit(&turn, memory_order_relaxed) != me)
                ;
            atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
            atomic_thread_fence(memory_order_seq_cst);
        }
    }
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store_explicit(&turn, other, memory_order_relaxed);
    atomic_store_explicit(&wants[me], 0, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
