// Message passing with a relaxed flag: a race in C11, and wrong where stores are reordered.
// source: the litmus test MP
// expect sc: safe (the data is written before the flag)
// expect tso: safe (x86 keeps stores in order)
// expect pso: unsafe (the flag overtakes the data)
// expect sc race: unsafe (a relaxed flag orders nothing)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

int data;
atomic_int ready;

void *sender(void *arg)
{
    data = 42;
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return NULL;
}

void *receiver(void *arg)
{
    if (atomic_load_explicit(&ready, memory_order_relaxed))
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
