// A counter by compare-exchange that may fail for no reason.
// source: written for this collection
// expect sc: safe (a failure tries again)
// expect tso: safe (a failure tries again)
// expect pso: safe (a failure tries again)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int counter;

void *worker(void *arg)
{
    int old = atomic_load_explicit(&counter, memory_order_relaxed);

    while (!atomic_compare_exchange_weak_explicit(&counter, &old, old + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
