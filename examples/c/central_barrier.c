// A sense-reversing barrier that two threads pass twice.
// source: Herlihy and Shavit, The Art of Multiprocessor Programming, section 17.3
// expect sc: safe (nobody is a round ahead)
// expect tso: safe (arriving drains the buffer)
// expect pso: safe (arriving drains all buffers)
// expect tso hang: safe (the last one lets the others go)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int arrived;
atomic_bool sense;
atomic_int before[2];

static void pass(_Bool *mine)
{
    *mine = !*mine;
    if (atomic_fetch_add(&arrived, 1) == 1) {
        atomic_store(&arrived, 0);
        atomic_store(&sense, *mine);
    } else {
        while (atomic_load(&sense) != *mine)
            ;
    }
}

void *worker(void *arg)
{
    int me = (int)(long)arg;
    _Bool mine = 0;

    atomic_store_explicit(&before[me], 1, memory_order_relaxed);
    pass(&mine);
    assert(atomic_load_explicit(&before[1 - me], memory_order_relaxed) >= 1);
    atomic_store_explicit(&before[me], 2, memory_order_relaxed);
    pass(&mine);
    assert(atomic_load_explicit(&before[1 - me], memory_order_relaxed) == 2);
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
