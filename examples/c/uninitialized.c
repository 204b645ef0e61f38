// A node is published before it is filled.
//
// source: written for this collection
// expect sc: unsafe (the consumer may come between)
// expect tso: unsafe (as under SC)
// expect pso: unsafe (as under SC)

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
    atomic_store(&head, node);
    atomic_store(&node->key, 1);
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
