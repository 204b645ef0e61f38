// A thread spins until another one lets it go: it does not hang.
// source: written after an issue of GenMC (17), where it is called hung
// expect sc: safe (there is nothing to violate)
// expect sc hang: safe (the store comes)
// expect tso hang: safe (a store does not stay in the buffer for ever)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int go;

void *waiter(void *arg)
{
    while (!atomic_load_explicit(&go, memory_order_acquire))
        ;
    return NULL;
}

void *starter(void *arg)
{
    atomic_store_explicit(&go, 1, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, starter, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
