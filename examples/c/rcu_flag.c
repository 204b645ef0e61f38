// Read-copy-update with a flag that says that somebody reads.
// source: McKenney and Slingwine, Read-copy update, 1998
// expect sc: safe (the old version stays as long as it is read)
// expect tso: safe (the flag is seen before the version is read)
// expect pso: safe (the same)
// expect tso race: safe (the updater waits)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_bool is_reading;
atomic_int version;
int data[2] = { 1, 0 };

void *reader(void *arg)
{
    atomic_store_explicit(&is_reading, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    assert(data[atomic_load_explicit(&version, memory_order_acquire)] == 1);
    atomic_store_explicit(&is_reading, 0, memory_order_release);
    return NULL;
}

void *updater(void *arg)
{
    data[1] = 1;
    atomic_store_explicit(&version, 1, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    while (atomic_load_explicit(&is_reading, memory_order_acquire))
        ;
    data[0] = 0;
    return NULL;
}

int main(void)
{
    pthread_t s, t;

    pthread_create(&s, NULL, reader, NULL);
    pthread_create(&t, NULL, updater, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
