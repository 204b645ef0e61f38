// A node is filled before it is published; where stores are not kept in order, that is too late.
//
// source: written for this collection
// expect sc: safe (the key is written first)
// expect tso: safe (stores are kept in order)
// expect pso: unsafe (the pointer may arrive before the key)

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    atomic_int key;
    int value;
};

_Atomic(struct node *) head;

void *producer(void *arg)
{
    struct node *node = malloc(sizeof(struct node));
    atomic_store_explicit(&node->key, 1, memory_order_relaxed);
    atomic_store_explicit(&head, node, memory_order_relaxed);
    return NULL;
}

void *consumer(void *arg)
{
    struct node *node = atomic_load(&head);
    if (node != NULL && atomic_load(&node->key) == 1)
        return NULL;
    return NULL;
}

int main(void)
{
    pthread_t p, c;
    pthread_create(&p, NULL, producer, NULL);
    pthread_create(&c, NULL, consumer, NULL);
    pthread_join(p, NULL);
    pthread_join(c, NULL);
    return 0;
}
