// A ring for one producer and one consumer.
// source: Lamport, Proving the correctness of multiprocess programs, 1977
// expect sc: safe (what is taken was put)
// expect tso: safe (stores stay in order)
// expect pso: safe (the index is released behind the slot)
// expect sc race: safe (the indices order the accesses to the slots)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define SIZE 2

int slots[SIZE];
atomic_int head, tail;

static int put(int value)
{
    int at = atomic_load_explicit(&tail, memory_order_relaxed);

    if (at - atomic_load_explicit(&head, memory_order_acquire) == SIZE)
        return 0;
    slots[at % SIZE] = value;
    atomic_store_explicit(&tail, at + 1, memory_order_release);
    return 1;
}

static int take(int *value)
{
    int at = atomic_load_explicit(&head, memory_order_relaxed);

    if (at == atomic_load_explicit(&tail, memory_order_acquire))
        return 0;
    *value = slots[at % SIZE];
    atomic_store_explicit(&head, at + 1, memory_order_release);
    return 1;
}

void *producer(void *arg)
{
    for (int i = 1; i <= 3; i++)
        while (!put(i))
            ;
    return NULL;
}

void *consumer(void *arg)
{
    int value = 0;

    for (int i = 1; i <= 3; i++) {
        while (!take(&value))
            ;
        assert(value == i);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
