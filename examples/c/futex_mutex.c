// Drepper's second mutex; a futex is waiting until the word is another.
// source: Drepper, Futexes are tricky, 2011
// expect sc: safe (mutual exclusion)
// expect tso: safe (updates drain)
// expect pso: safe (updates release)
// expect tso race: safe (the counter is behind the lock)
// expect tso hang: safe (whoever sleeps sees the word change)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int word;
int counter;

static void lock(void)
{
    int seen = 0;

    if (atomic_compare_exchange_strong(&word, &seen, 1))
        return;
    if (seen != 2)
        seen = atomic_exchange(&word, 2);
    while (seen != 0) {
        while (atomic_load(&word) == 2)
            ;
        seen = atomic_exchange(&word, 2);
    }
}

static void unlock(void)
{
    if (atomic_fetch_sub(&word, 1) != 1)
        atomic_store(&word, 0);
}

void *worker(void *arg)
{
    lock();
    counter++;
    unlock();
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(counter == 2);
    return 0;
}
