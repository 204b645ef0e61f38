// Both threads take the same node out, and free it.
//
// source: written for this collection
// expect sc: unsafe (both may load before one stores)
// expect tso: unsafe (as under SC)
// expect pso: unsafe (as under SC)

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int key;
};

_Atomic(struct node *) head;

void *taker(void *arg)
{
    struct node *node = atomic_load(&head);
    if (node != NULL) {
        atomic_store(&head, NULL);
        free(node);
    }
    return NULL;
}

int main(void)
{
    pthread_t s, t;
    atomic_init(&head, malloc(sizeof(struct node)));
    pthread_create(&s, NULL, taker, NULL);
    pthread_create(&t, NULL, taker, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
