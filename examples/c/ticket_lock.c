// A ticket lock.
// source: Mellor-Crummey and Scott, 1991
// expect sc: safe (the lock excludes)
// expect tso: safe (updates empty the buffer, and stores stay in order)
// expect pso: safe (the lock is released behind what it protects)
// expect sc race: safe (the lock orders the accesses to the counter)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef N
#define N 3
#endif

struct ticket_lock {
    atomic_int next;
    atomic_int serving;
};

static void acquire(struct ticket_lock *lock)
{
    int mine = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed);

    while (atomic_load_explicit(&lock->serving, memory_order_acquire) != mine)
        ;
}

static void release(struct ticket_lock *lock)
{
    int mine = atomic_load_explicit(&lock->serving, memory_order_relaxed);

    atomic_store_explicit(&lock->serving, mine + 1, memory_order_release);
}

struct ticket_lock lock;
int counter;

void *worker(void *arg)
{
    acquire(&lock);
    counter = counter + 1;
    release(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[N];

    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N);
    return 0;
}
