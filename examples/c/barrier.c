// A sense-reversing barrier, used twice.
// source: Mellor-Crummey and Scott, Algorithms for scalable synchronization, 1991
// expect sc: safe (nobody is a round ahead)
// expect tso: safe (updates empty the buffer)
// expect pso: safe (the sense is released behind the count)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int missing = 2;
atomic_int sense;
atomic_int round[2];

#define THREADS (sizeof(round) / sizeof(round[0]))

static void wait_for_all(int *mine)
{
    *mine = !*mine;
    if (atomic_fetch_sub_explicit(&missing, 1, memory_order_acq_rel) == 1) {
        atomic_store_explicit(&missing, 2, memory_order_relaxed);
        atomic_store_explicit(&sense, *mine, memory_order_release);
    } else {
        while (atomic_load_explicit(&sense, memory_order_acquire) != *mine)
            ;
    }
}

void *worker(void *arg)
{
    int self = (int) (long) arg;
    int mine = 0;

    for (int i = 1; i <= 2; i++) {
        atomic_store_explicit(&round[self], i, memory_order_relaxed);
        wait_for_all(&mine);
        assert(atomic_load_explicit(&round[1 - self], memory_order_relaxed) >= i);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *) i);
    for (long i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
