// A thread gives away a pointer to its own variable, and ends.
//
// source: written for this collection, after the memory tests of GenMC
// expect sc: unsafe (the other thread may come later)
// expect tso: unsafe (as under SC)
// expect pso: unsafe (as under SC)

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

_Atomic(int *) shared;

void *giver(void *arg)
{
    int mine = 7;
    atomic_store(&shared, &mine);
    return NULL;
}

void *user(void *arg)
{
    int *p = atomic_load(&shared);
    if (p != NULL)
        *p = 8;
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
