// Store buffering with sequentially consistent accesses.
// source: the litmus test SB
// expect sc: safe (one of the stores is first)
// expect tso: safe (a sequentially consistent store leaves the buffer at once)
// expect pso: safe (as under TSO)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int x, y;
int seen_by_left, seen_by_right;

void *left(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_seq_cst);
    seen_by_left = atomic_load_explicit(&y, memory_order_seq_cst);
    return NULL;
}

void *right(void *arg)
{
    atomic_store_explicit(&y, 1, memory_order_seq_cst);
    seen_by_right = atomic_load_explicit(&x, memory_order_seq_cst);
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
