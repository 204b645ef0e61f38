// A lock-free stack: two threads push a node each, and pop one.
// source: Treiber, Systems programming: coping with parallelism, 1986
// expect sc: safe (no node is lost)
// expect tso: safe (updates empty the buffer)
// expect pso: safe (a node is released by the update that publishes it)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    int value;
    struct node *next;
};

_Atomic(struct node *) top;
struct node nodes[2];
atomic_int popped;

static void push(struct node *it)
{
    struct node *old = atomic_load_explicit(&top, memory_order_relaxed);

    do {
        it->next = old;
    } while (!atomic_compare_exchange_strong_explicit(&top, &old, it, memory_order_release,
                                                      memory_order_relaxed));
}

static struct node *pop(void)
{
    struct node *old = atomic_load_explicit(&top, memory_order_acquire);

    while (old != NULL &&
           !atomic_compare_exchange_strong_explicit(&top, &old, old->next, memory_order_acquire,
                                                    memory_order_acquire))
        ;
    return old;
}

void *worker(void *arg)
{
    struct node *mine = arg;
    struct node *got;

    mine->value = 1;
    push(mine);
    got = pop();
    assert(got != NULL);
    assert(got->value == 1);
    atomic_fetch_add(&popped, 1);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, worker, &nodes[0]);
    pthread_create(&b, NULL, worker, &nodes[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(popped == 2);
    return 0;
}
