// Message passing: the flag is released and acquired.
// source: the litmus test MP
// expect sc: safe (the data is written before the flag)
// expect tso: safe (stores stay in order)
// expect pso: safe (a release store waits for those before it)
// expect sc race: safe (the flag orders the accesses to the data)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

int data;
atomic_int ready;

void *sender(void *arg)
{
    data = 42;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return NULL;
}

void *receiver(void *arg)
{
    if (atomic_load_explicit(&ready, memory_order_acquire))
        assert(data == 42);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, sender, NULL);
    pthread_create(&b, NULL, receiver, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
