// Two mutexes, always taken in the same order: no deadlock.
// source: the usual cure of the deadlock in deadlock.c
// expect sc: safe (both are protected)
// expect tso: safe (mutexes order)
// expect tso hang: safe (the first lock decides)
// expect tso race: safe (x and y are behind their locks)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
int x, y;

void *worker(void *arg)
{
    pthread_mutex_lock(&a);
    x++;
    pthread_mutex_lock(&b);
    y = x;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(y == 2);
    return 0;
}
