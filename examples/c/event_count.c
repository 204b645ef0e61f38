// An event count: the event first, then the epoch.
// source: Reed and Kanodia, Synchronization with eventcounts and sequencers, 1979
// expect sc: safe (nothing is asserted)
// expect sc hang: safe (an old ticket wakes)
// expect tso hang: safe (the same)
// expect pso hang: safe (the same)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int epoch;
atomic_bool is_set;

void *waiter(void *arg)
{
    for (;;) {
        int ticket = atomic_load(&epoch);

        if (atomic_load(&is_set))
            return NULL;
        while (atomic_load(&epoch) == ticket)
            ;
    }
}

void *notifier(void *arg)
{
    atomic_store(&is_set, 1);
    atomic_fetch_add(&epoch, 1);
    return NULL;
}

int main(void)
{
    pthread_t s, t;

    pthread_create(&s, NULL, waiter, NULL);
    pthread_create(&t, NULL, notifier, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
