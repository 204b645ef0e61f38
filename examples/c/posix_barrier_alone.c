// A barrier for three that only two come to.
// source: written for this collection
// expect sc: safe (nobody gets past)
// expect sc hang: unsafe (both wait for the third)

#include <pthread.h>
#include <stddef.h>

pthread_barrier_t barrier;

void *worker(void *arg)
{
    pthread_barrier_wait(&barrier);
    return NULL;
}

int main(void)
{
    pthread_t s, t;

    pthread_barrier_init(&barrier, NULL, 3);
    pthread_create(&s, NULL, worker, NULL);
    pthread_create(&t, NULL, worker, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
