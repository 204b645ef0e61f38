// A stack by index whose old top comes back: compare-exchange does not see that it was away.
// source: Treiber, Systems Programming: Coping with Parallelism, 1986; the ABA problem
// expect sc: unsafe (cell 2 is head again although it was taken)
// expect tso: unsafe (as under SC)
// expect pso: unsafe (as under SC)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int head = 1;
atomic_int next[3] = { 0, 2, 0 };

void *slow(void *arg)
{
    int top = atomic_load(&head);
    int below = atomic_load(&next[top]);

    atomic_compare_exchange_strong(&head, &top, below);
    assert(atomic_load(&head) != 2 || atomic_load(&next[0]) == 0);
    return NULL;
}

void *quick(void *arg)
{
    int top = 1;

    if (atomic_compare_exchange_strong(&head, &top, 2)) {
        top = 2;
        if (atomic_compare_exchange_strong(&head, &top, 0)) {
            /* 2 is out, 1 comes back. */
            atomic_store(&next[0], 1);
            atomic_store(&next[1], 0);
            atomic_store(&head, 1);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t s, t;

    pthread_create(&s, NULL, slow, NULL);
    pthread_create(&t, NULL, quick, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
