// A signal without the lock comes between looking and waiting.
// source: written for this collection
// expect sc: safe (it waits too long, and does nothing wrong)
// expect sc hang: unsafe (the signal finds nobody, and the consumer waits for ever)
// expect tso hang: unsafe (as under SC)

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
_Atomic int ready, data;

void *producer(void *arg)
{
    data = 42;
    ready = 1;
    pthread_cond_signal(&filled);
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
