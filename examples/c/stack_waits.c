// A thread gives away a pointer to its own variable, and waits until it is not used any more.
//
// source: written for this collection, after the memory tests of GenMC
// expect sc: safe (it ends when the other is done)
// expect tso: safe (all accesses that matter are seq_cst)
// expect pso: safe (all accesses that matter are seq_cst)
// expect sc race: safe (the pointer and the flag order the accesses)

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

_Atomic(int *) shared;
atomic_int is_done;

void *giver(void *arg)
{
    int mine = 7;
    atomic_store(&shared, &mine);
    while (atomic_load(&is_done) == 0)
        ;
    return NULL;
}

void *user(void *arg)
{
    int *p;
    while ((p = atomic_load(&shared)) == NULL)
        ;
    *p = 8;
    atomic_store(&is_done, 1);
    return NULL;
}

int main(void)
{
    pthread_t g, u;
    pthread_create(&g, NULL, giver, NULL);
    pthread_create(&u, NULL, user, NULL);
    pthread_join(g, NULL);
    pthread_join(u, NULL);
    return 0;
}
