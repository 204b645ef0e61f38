// What is allocated is used by a thread that does not come after the allocation.
//
// source: written for this collection, after a test of GenMC
// expect sc: safe (it asserts nothing, and follows no null pointer)
// expect tso: safe (as under SC)
// expect pso: safe (as under SC)
// expect sc race: unsafe (the pointer is read relaxed, so nothing orders malloc before the write)

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

_Atomic(int *) shared;

void *maker(void *arg)
{
    atomic_store_explicit(&shared, malloc(sizeof(int)), memory_order_release);
    return NULL;
}

void *user(void *arg)
{
    int *mine = atomic_load_explicit(&shared, memory_order_relaxed);
    if (mine)
        *mine = 18;
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, maker, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
