// Three mutexes taken in a ring by three threads.
// source: written after an issue of GenMC (54), where it is an internal failure
// expect sc: safe (there is nothing to violate)
// expect sc hang: unsafe (each thread holds what the next one waits for)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

pthread_mutex_t forks[3];

void *philosopher(void *arg)
{
    long self = (long) arg;

    pthread_mutex_lock(&forks[self]);
    pthread_mutex_lock(&forks[(self + 1) % 3]);
    pthread_mutex_unlock(&forks[(self + 1) % 3]);
    pthread_mutex_unlock(&forks[self]);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];

    for (long i = 0; i < 3; i++)
        pthread_mutex_init(&forks[i], NULL);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, philosopher, (void *) i);
    for (long i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
