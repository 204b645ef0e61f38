// A stack that is filled with what is allocated in a loop.
// source: Treiber, 1986
// expect sc: safe (a node is filled before it is published)
// expect tso: safe (stores stay in order)
// expect pso: safe (the update is a release)
// expect sc race: safe (the update orders what is in a node)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

_Atomic(struct node *) top;

void *pusher(void *arg)
{
    for (int i = 1; i <= 2; i++) {
        struct node *node = malloc(sizeof *node);
        struct node *old = atomic_load_explicit(&top, memory_order_relaxed);

        node->value = i;
        do
            node->next = old;
        while (!atomic_compare_exchange_strong_explicit(&top, &old, node, memory_order_release, memory_order_relaxed));
    }
    return NULL;
}

void *reader(void *arg)
{
    struct node *node = atomic_load_explicit(&top, memory_order_acquire);

    if (node != NULL) {
        assert(node->value == 1 || node->value == 2);
        if (node->next != NULL)
            assert(node->next->value == 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t s, t;

    pthread_create(&s, NULL, pusher, NULL);
    pthread_create(&t, NULL, reader, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
