// The queue lock of Mellor-Crummey and Scott: pointers to nodes in shared memory.
// source: Mellor-Crummey and Scott, Algorithms for scalable synchronization, 1991
// expect sc: safe (the queue hands the lock on)
// expect tso: safe (updates empty the buffer, and stores stay in order)
// expect pso: safe (what is handed on is released)
// expect sc race: safe (the lock orders the accesses to the counter)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    _Atomic(struct node *) next;
    atomic_int waiting;
};

_Atomic(struct node *) tail;
struct node nodes[2];
int counter;

static void acquire(struct node *self)
{
    struct node *before;

    atomic_store_explicit(&self->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&self->waiting, 1, memory_order_relaxed);
    before = atomic_exchange_explicit(&tail, self, memory_order_acq_rel);
    if (before) {
        atomic_store_explicit(&before->next, self, memory_order_release);
        while (atomic_load_explicit(&self->waiting, memory_order_acquire))
            ;
    }
}

static void release(struct node *self)
{
    struct node *next = atomic_load_explicit(&self->next, memory_order_acquire);

    if (!next) {
        struct node *expected = self;

        if (atomic_compare_exchange_strong_explicit(&tail, &expected, NULL, memory_order_release,
                                                    memory_order_relaxed))
            return;
        while (!(next = atomic_load_explicit(&self->next, memory_order_acquire)))
            ;
    }
    atomic_store_explicit(&next->waiting, 0, memory_order_release);
}

void *worker(void *arg)
{
    struct node *self = arg;

    acquire(self);
    counter = counter + 1;
    release(self);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &nodes[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 2);
    return 0;
}
