// A condition variable as it is meant: waited for in a loop, signaled behind the lock.
// source: written for this collection
// expect sc: safe (the loop looks again)
// expect tso: safe (the lock orders all of it)
// expect pso: safe (as under TSO)
// expect sc race: safe (the lock orders all of it)
// expect sc hang: safe (no signal is lost)
// expect tso hang: safe (as under SC)

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
int ready, data;

void *producer(void *arg)
{
    pthread_mutex_lock(&lock);
    data = 42;
    ready = 1;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    return NULL;
}

void *consumer(void *arg)
{
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&filled, &lock);
    assert(data == 42);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t s, t;

    pthread_create(&s, NULL, producer, NULL);
    pthread_create(&t, NULL, consumer, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
