// A mutex of the system around a plain counter.
// source: folklore
// expect sc: safe (the mutex excludes)
// expect tso: safe (the mutex excludes)
// expect pso: safe (unlocking releases)
// expect sc race: safe (the mutex orders the accesses)
// expect tso hang: safe (the mutex is always given back)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int counter;

void *worker(void *arg)
{
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
