// Whoever does not get the lock does not wait.
// source: the idea of pthread_mutex_trylock
// expect sc: safe (every thread does one of the two)
// expect tso: safe (updates drain)
// expect pso: safe (giving back is a release)
// expect tso race: safe (what is owned is behind the lock)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_flag lock = ATOMIC_FLAG_INIT;
int owned;
atomic_int others;

void *worker(void *arg)
{
    if (!atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {
        owned++;
        atomic_flag_clear_explicit(&lock, memory_order_release);
    } else {
        atomic_fetch_add(&others, 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];

    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(owned + others == 3);
    return 0;
}
