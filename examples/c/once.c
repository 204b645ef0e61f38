// One of three makes the thing, the others wait.
// source: the idea of pthread_once
// expect sc: safe (it is made once, and before it is used)
// expect tso: safe (stores stay in order)
// expect pso: safe (the release keeps the order)
// expect tso race: safe (what is made is released)
// expect tso hang: safe (whoever makes it says so)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int state;
int thing;
int n_made;

void *worker(void *arg)
{
    int none = 0;

    if (atomic_compare_exchange_strong_explicit(&state, &none, 1, memory_order_acquire, memory_order_relaxed)) {
        n_made++;
        thing = 9;
        atomic_store_explicit(&state, 2, memory_order_release);
    } else {
        while (atomic_load_explicit(&state, memory_order_acquire) != 2)
            ;
    }
    assert(thing == 9);
    return NULL;
}

int main(void)
{
    pthread_t t[3];

    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(n_made == 1);
    return 0;
}
