// A reference count: the last who lets go frees.
// source: the idea of Arc and of shared_ptr
// expect sc: safe (nobody looks behind the last)
// expect tso: safe (updates drain)
// expect pso: safe (letting go is a release)
// expect tso race: safe (a release, and a fence that acquires)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int count = 2;
_Bool is_freed;

void *holder(void *arg)
{
    assert(!is_freed);
    if (atomic_fetch_sub_explicit(&count, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        is_freed = 1;
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, holder, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(is_freed);
    return 0;
}
