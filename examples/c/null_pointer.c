// A pointer that is used although nothing may have been stored to it yet.
// source: written for this collection
// expect sc: unsafe (the reader may be first)
// expect tso: unsafe (the reader may be first)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct box {
    atomic_int value;
};

struct box storage;
_Atomic(struct box *) published;

void *writer(void *arg)
{
    atomic_store_explicit(&storage.value, 1, memory_order_relaxed);
    atomic_store_explicit(&published, &storage, memory_order_release);
    return NULL;
}

void *reader(void *arg)
{
    struct box *it = atomic_load_explicit(&published, memory_order_acquire);

    assert(atomic_load_explicit(&it->value, memory_order_relaxed) == 1);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
