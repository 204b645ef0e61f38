// A small state machine with `switch`, `goto` and an enumeration.
// source: written for this collection
// expect sc: safe (the second half waits for the first)
// expect tso: safe (stores stay in order)
// expect pso: safe (the state is released)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum state { IDLE, BUSY, DONE };

_Atomic int state = IDLE;
int result;

void *worker(void *arg)
{
    atomic_store_explicit(&state, BUSY, memory_order_release);
    result = 5;
    atomic_store_explicit(&state, DONE, memory_order_release);
    return NULL;
}

void *watcher(void *arg)
{
again:
    switch (atomic_load_explicit(&state, memory_order_acquire)) {
    case IDLE:
    case BUSY:
        goto again;
    case DONE:
        assert(result == 5);
        break;
    default:
        assert(0);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, watcher, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
