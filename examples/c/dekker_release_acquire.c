// Dekker's lock with release and acquire, which do not keep a load behind a store.
// source: Dijkstra, Cooperating sequential processes, 1965
// expect sc: safe (mutual exclusion)
// expect tso: unsafe (both flags wait in their buffers)
// expect pso: unsafe (as under TSO)
// expect sc race: safe (under SC what is plain is behind the lock)

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

    atomic_store_explicit(&wants[me], 1, memory_order_release);
    while (atomic_load_explicit(&wants[other], memory_order_acquire)) {
        if (atomic_load_explicit(&turn, memory_order_acquire) != me) {
            atomic_store_explicit(&wants[me], 0, memory_order_release);
            while (atomic_load_explicit(&turn, memory_order_acquire) != me)
                ;
            atomic_store_explicit(&wants[me], 1, memory_order_release);
        }
    }
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store_explicit(&turn, other, memory_order_release);
    atomic_store_explicit(&wants[me], 0, memory_order_release);
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
