// A readers-writer lock in one word.
// source: Herlihy and Shavit, The Art of Multiprocessor Programming, section 8.3
// expect sc: safe (readers see all of a write or nothing)
// expect tso: safe (updates drain)
// expect pso: safe (giving back is a release)
// expect tso race: safe (data is behind the lock)
// expect tso hang: safe (everybody gives back)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define WRITER 8

atomic_int state;
int data[2];

static void read_lock(void)
{
    int old = atomic_load_explicit(&state, memory_order_relaxed);

    for (;;) {
        while (old >= WRITER)
            old = atomic_load_explicit(&state, memory_order_relaxed);
        if (atomic_compare_exchange_strong_explicit(&state, &old, old + 1, memory_order_acquire, memory_order_relaxed))
            return;
    }
}

static void read_unlock(void)
{
    atomic_fetch_sub_explicit(&state, 1, memory_order_release);
}

static void write_lock(void)
{
    int none = 0;

    while (!atomic_compare_exchange_strong_explicit(&state, &none, WRITER, memory_order_acquire, memory_order_relaxed))
        none = 0;
}

static void write_unlock(void)
{
    atomic_store_explicit(&state, 0, memory_order_release);
}

void *writer(void *arg)
{
    write_lock();
    data[0]++;
    data[1]++;
    write_unlock();
    return NULL;
}

void *reader(void *arg)
{
    read_lock();
    assert(data[0] == data[1]);
    read_unlock();
    return NULL;
}

int main(void)
{
    pthread_t r, s, w;

    pthread_create(&w, NULL, writer, NULL);
    pthread_create(&r, NULL, reader, NULL);
    pthread_create(&s, NULL, reader, NULL);
    pthread_join(w, NULL);
    pthread_join(r, NULL);
    pthread_join(s, NULL);
    return 0;
}
