// A hazard pointer, seq_cst.
// source: Michael, Hazard pointers: safe memory reclamation for lock-free objects, 2004
// expect sc: safe (what is announced is not retired)
// expect tso: safe (the announcement is seen before the second look)
// expect pso: safe (the same)
// expect tso race: safe (the cell is not touched any more)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct cell {
    int is_alive;
};

struct cell cells[2] = { { 1 }, { 1 } };
_Atomic(struct cell *) current;
_Atomic(struct cell *) hazard;

void *reader(void *arg)
{
    struct cell *seen = atomic_load(&current);

    atomic_store_explicit(&hazard, seen, memory_order_seq_cst);
    if (seen == atomic_load(&current))
        assert(seen->is_alive == 1);
    atomic_store_explicit(&hazard, NULL, memory_order_release);
    return NULL;
}

void *writer(void *arg)
{
    struct cell *old = atomic_exchange(&current, &cells[1]);

    if (atomic_load(&hazard) != old)
        old->is_alive = 0;
    return NULL;
}

int main(void)
{
    pthread_t s, t;

    current = &cells[0];
    pthread_create(&s, NULL, reader, NULL);
    pthread_create(&t, NULL, writer, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
