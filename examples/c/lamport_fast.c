// Lamport's fast mutex for two threads, seq_cst.
// source: Lamport, A fast mutual exclusion algorithm, 1987
// expect sc: safe (mutual exclusion)
// expect tso: safe (seq_cst stores drain)
// expect pso: safe (seq_cst stores drain)
// expect tso race: safe (what is plain is behind the lock)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int x, y;
atomic_bool tries[2];
int inside;

void *worker(void *arg)
{
    int me = (int)(long)arg + 1;

start:
    atomic_store(&tries[me - 1], 1);
    atomic_store(&x, me);
    if (atomic_load(&y) != 0) {
        atomic_store(&tries[me - 1], 0);
        while (atomic_load(&y) != 0)
            ;
        goto start;
    }
    atomic_store(&y, me);
    if (atomic_load(&x) != me) {
        atomic_store(&tries[me - 1], 0);
        for (int j = 0; j < 2; j++)
            while (atomic_load(&tries[j]))
                ;
        if (atomic_load(&y) != me) {
            while (atomic_load(&y) != 0)
                ;
            goto start;
        }
    }
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store(&y, 0);
    atomic_store(&tries[me - 1], 0);
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
