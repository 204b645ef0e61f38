// Double-checked locking with a relaxed pointer: the value may come late.
// source: Schmidt and Harrison, Double-checked locking, 1997
// expect sc: safe (it is initialised once, before it is seen)
// expect tso: safe (stores stay in order)
// expect pso: unsafe (the pointer overtakes what it points at)
// expect sc race: unsafe (nothing orders the value before who sees the pointer)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct thing {
    int value;
};

struct thing storage;
_Atomic(struct thing *) instance;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct thing *get(void)
{
    struct thing *it = atomic_load_explicit(&instance, memory_order_relaxed);

    if (it == NULL) {
        pthread_mutex_lock(&mutex);
        it = atomic_load_explicit(&instance, memory_order_relaxed);
        if (it == NULL) {
            storage.value = 7;
            it = &storage;
            atomic_store_explicit(&instance, it, memory_order_relaxed);
        }
        pthread_mutex_unlock(&mutex);
    }
    return it;
}

void *worker(void *arg)
{
    assert(get()->value == 7);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
