// A variable that is not written on every way.
// source: written for this collection
// expect sc: unsafe (the other thread may come later)
// expect tso: unsafe (as under SC)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

_Atomic int flag;

void *reader(void *arg)
{
    int seen;

    if (atomic_load(&flag))
        seen = 1;
    assert(seen == 1);
    return NULL;
}

void *writer(void *arg)
{
    int before;

    do
        before = atomic_load(&flag);
    while (before == 1);
    atomic_store(&flag, before + 1);
    return NULL;
}

int main(void)
{
    pthread_t s, t;

    pthread_create(&s, NULL, reader, NULL);
    pthread_create(&t, NULL, writer, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
