// An event count that is advanced before the event: the waiter may take a fresh ticket in between.
// source: Reed and Kanodia, Synchronization with eventcounts and sequencers, 1979
// expect sc: safe (nothing is asserted)
// expect sc hang: unsafe (nobody advances the epoch again)
// expect tso hang: unsafe (the same)

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
    atomic_fetch_add(&epoch, 1);
    atomic_store(&is_set, 1);
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
