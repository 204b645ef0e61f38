// Who waits for a condition without a loop may wake up for no reason.
// source: written for this collection, after the manual page of pthread_cond_wait
// expect sc: unsafe (a thread that wakes up by itself does not look again)
// expect tso: unsafe (as under SC)

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
    if (!ready)
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
