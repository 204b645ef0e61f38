// A box is freed by one thread while another one may still read it.
//
// source: written for this collection
// expect sc: unsafe (the reader may come behind the free)
// expect tso: unsafe (the reader may come behind the free)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct box {
    atomic_int value;
};

_Atomic(struct box *) shared;

void *reader(void *arg)
{
    struct box *it = atomic_load(&shared);

    if (it != NULL)
        assert(atomic_load(&it->value) == 3);
    return NULL;
}

void *owner(void *arg)
{
    struct box *it = malloc(sizeof(*it));

    atomic_store(&it->value, 3);
    atomic_store(&shared, it);
    atomic_store(&shared, NULL);
    free(it);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, owner, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
