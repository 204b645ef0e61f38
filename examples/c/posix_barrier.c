// A barrier of POSIX: what was written before it is read behind it.
// source: written for this collection
// expect sc: safe (nobody passes before both have arrived)
// expect tso: safe (who arrives has emptied the buffer)
// expect pso: safe (as under TSO)
// expect sc race: safe (the barrier orders the accesses)
// expect sc hang: safe (both arrive)

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

pthread_barrier_t barrier;
int half[2];

void *worker(void *arg)
{
    long me = (long)arg;

    half[me] = 1;
    pthread_barrier_wait(&barrier);
    assert(half[1 - me] == 1);
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    pthread_barrier_init(&barrier, NULL, 2);
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
