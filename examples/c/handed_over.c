// A box is handed over, and freed by whoever got it.
//
// source: written for this collection
// expect sc: safe (only who got the box uses it)
// expect tso: safe (only who got the box uses it)
// expect pso: safe (only who got the box uses it)

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
    struct box *it = atomic_exchange(&shared, NULL);

    if (it != NULL) {
        assert(atomic_load(&it->value) == 3);
        free(it);
    }
    return NULL;
}

void *owner(void *arg)
{
    struct box *it = malloc(sizeof(*it));

    atomic_store(&it->value, 3);
    atomic_store(&shared, it);
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
