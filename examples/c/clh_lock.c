// A CLH lock: everybody spins on the node before.
// source: Craig, Building FIFO and priority-queueing spin locks, 1993
// expect sc: safe (mutual exclusion)
// expect tso: safe (the exchange drains)
// expect pso: safe (the exchange releases what was stored to the node)
// expect tso race: safe (the counter is behind the lock)
// expect tso hang: safe (every node is given away)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    atomic_bool is_locked;
};

struct node nodes[4];
_Atomic(struct node *) tail;
int counter;

void *worker(void *arg)
{
    struct node *mine = &nodes[(long)arg + 1];
    struct node *before;

    atomic_store_explicit(&mine->is_locked, 1, memory_order_relaxed);
    before = atomic_exchange_explicit(&tail, mine, memory_order_acq_rel);
    while (atomic_load_explicit(&before->is_locked, memory_order_acquire))
        ;
    counter++;
    atomic_store_explicit(&mine->is_locked, 0, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t t[3];

    tail = &nodes[0];
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(counter == 3);
    return 0;
}
