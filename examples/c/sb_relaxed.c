// Store buffering with relaxed accesses: each thread may miss the store of the other.
// source: the litmus test SB
// expect sc: safe (one of the stores is first)
// expect tso: unsafe (both stores wait in their buffers)
// expect pso: unsafe (as under TSO)
// expect tso race: safe (what is plain is read behind the joins)
// fences tso after-stores by source: 1 set of 2 (a fence behind each store)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int x, y;
int seen_by_left, seen_by_right;

void *left(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    seen_by_left = atomic_load_explicit(&y, memory_order_relaxed);
    return NULL;
}

void *right(void *arg)
{
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    seen_by_right = atomic_load_explicit(&x, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, left, NULL);
    pthread_create(&b, NULL, right, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(seen_by_left == 1 || seen_by_right == 1);
    return 0;
}
