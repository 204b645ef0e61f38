// A server that waits for its next client for ever, as it may.
// source: written for this collection
// expect sc: safe (there is nothing to violate)
// expect sc hang: safe (the client gets its answer; the server is said to wait)
// expect tso hang: safe (as under SC)

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

_Atomic int request, answer;

void *server(void *arg)
{
    for (;;) {
        // fencewright: may wait
        while (atomic_load(&request) == 0)
            ;
        atomic_store(&request, 0);
        atomic_store(&answer, 1);
    }
    return NULL;
}

void *client(void *arg)
{
    atomic_store(&request, 1);
    while (atomic_load(&answer) == 0)
        ;
    return NULL;
}

int main(void)
{
    pthread_t s, t;

    pthread_create(&s, NULL, server, NULL);
    pthread_create(&t, NULL, client, NULL);
    pthread_join(t, NULL);
    return 0;
}
