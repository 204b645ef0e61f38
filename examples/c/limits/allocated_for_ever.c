// A stack that is filled for ever: no room is enough, so that nothing can be said of all of it.
// source: Treiber, 1986

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
    for (;;) {
        struct node *node = malloc(sizeof *node);
        struct node *old = atomic_load_explicit(&top, memory_order_relaxed);

        node->value = 1;
        do
            node->next = old;
        while (!atomic_compare_exchange_strong_explicit(&top, &old, node, memory_order_release, memory_order_relaxed));
    }
    return NULL;
}

void *reader(void *arg)
{
    struct node *node = atomic_load_explicit(&top, memory_order_acquire);

    if (node != NULL)
        assert(node->value == 1);
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
