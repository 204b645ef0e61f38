// Szymanski's lock for two threads, seq_cst.
// source: Szymanski, A simple solution to Lamport's concurrent programming problem, 1988
// expect sc: safe (mutual exclusion)
// expect tso: safe (seq_cst stores drain)
// expect pso: safe (seq_cst stores drain)
// expect tso race: safe (what is plain is behind the lock)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int flag[2];
int inside;

void *worker(void *arg)
{
    int me = (int)(long)arg, other = 1 - me;

    atomic_store(&flag[me], 1);
    while (atomic_load(&flag[other]) >= 3)
        ;
    atomic_store(&flag[me], 3);
    if (atomic_load(&flag[other]) == 1) {
        atomic_store(&flag[me], 2);
        while (atomic_load(&flag[other]) != 4)
            ;
    }
    atomic_store(&flag[me], 4);
    if (me == 1)
        while (atomic_load(&flag[0]) >= 2)
            ;
    inside++;
    assert(inside == 1);
    inside--;
    if (me == 0)
        for (int f = atomic_load(&flag[1]); f == 2 || f == 3; f = atomic_load(&flag[1]))
            ;
    atomic_store(&flag[me], 0);
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
