// Anderson's array lock: each thread spins on a slot of its own, which it finds through a pointer in the lock.
// source: Anderson, The Performance of Spin Lock Alternatives, 1990
// expect sc: safe (mutual exclusion)
// expect tso: safe (one slot is given at a time)
// expect pso: safe (giving is a release)
// expect tso race: safe (the counter is behind the lock)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct array_lock {
    atomic_uint tail;
    atomic_bool *may_enter;
    unsigned size;
};

atomic_bool slots[4];
struct array_lock lock;
int counter;

static unsigned acquire(struct array_lock *l)
{
    unsigned slot = atomic_fetch_add(&l->tail, 1) % l->size;

    while (!atomic_load_explicit(&l->may_enter[slot], memory_order_acquire))
        ;
    return slot;
}

static void release(struct array_lock *l, unsigned slot)
{
    atomic_store_explicit(&l->may_enter[slot], 0, memory_order_relaxed);
    atomic_store_explicit(&l->may_enter[(slot + 1) % l->size], 1, memory_order_release);
}

void *worker(void *arg)
{
    unsigned slot = acquire(&lock);

    counter++;
    release(&lock, slot);
    return NULL;
}

int main(void)
{
    pthread_t t[3];

    lock.may_enter = slots;
    lock.size = 4;
    atomic_init(&slots[0], 1);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(counter == 3);
    return 0;
}
