// The queue of Michael and Scott.
// source: Michael and Scott, Simple, fast, and practical non-blocking and blocking queues, 1996
// expect sc: safe (a node that is found is full)
// expect tso: safe (stores stay in order)
// expect pso: safe (linking is a release)
// expect tso race: safe (linking is a release that taking acquires)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    _Atomic(struct node *) next;
    int value;
};

struct node nodes[3];
_Atomic(struct node *) head, tail;
int taken;

void *putter(void *arg)
{
    struct node *mine = &nodes[1];
    struct node *last, *next;

    mine->value = 7;
    for (;;) {
        last = atomic_load_explicit(&tail, memory_order_acquire);
        next = NULL;
        if (atomic_compare_exchange_strong_explicit(&last->next, &next, mine, memory_order_release, memory_order_relaxed))
            break;
        atomic_compare_exchange_strong(&tail, &last, next);
    }
    atomic_compare_exchange_strong(&tail, &last, mine);
    return NULL;
}

void *taker(void *arg)
{
    struct node *first = atomic_load_explicit(&head, memory_order_acquire);
    struct node *next = atomic_load_explicit(&first->next, memory_order_acquire);

    if (next != NULL && atomic_compare_exchange_strong(&head, &first, next)) {
        taken = next->value;
        assert(taken == 7);
    }
    return NULL;
}

int main(void)
{
    pthread_t s, t;

    head = &nodes[0];
    tail = &nodes[0];
    pthread_create(&s, NULL, putter, NULL);
    pthread_create(&t, NULL, taker, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
