// A slot that holds a node, or a mark that somebody works on it: the mark is no node.
//
// source: written for this collection, after the CNA lock of libvsync
// expect sc: safe (who gets the node has put the mark there)
// expect tso: safe (all accesses that matter are seq_cst)
// expect pso: safe (all accesses that matter are seq_cst)
// expect sc race: safe (the slot orders the accesses)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define BUSY ((struct node *)1)

struct node {
    int key;
};

static struct node node;
static _Atomic(struct node *) slot = &node;

void *worker(void *arg)
{
    struct node *mine = atomic_exchange(&slot, BUSY);
    if (mine != BUSY) {
        assert(mine == &node);
        mine->key = 1;
        atomic_store(&slot, mine);
    }
    return NULL;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, worker, NULL);
    pthread_create(&t, NULL, worker, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
