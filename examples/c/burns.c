// Burns' lock for two threads.
// source: Burns, Mutual exclusion with linear waiting using binary shared variables, 1978
// expect sc: safe (mutual exclusion)
// expect tso: safe (every access is seq_cst)
// expect pso: safe (every access is seq_cst)
// expect tso race: safe (what is plain is behind the lock)
// expect tso hang: safe (the first thread always gets in)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_bool flag[2];
int inside;

void *first(void *arg)
{
    atomic_store(&flag[0], 1);
    while (atomic_load(&flag[1]))
        ;
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store(&flag[0], 0);
    return NULL;
}

void *second(void *arg)
{
again:
    atomic_store(&flag[1], 0);
    while (atomic_load(&flag[0]))
        ;
    atomic_store(&flag[1], 1);
    if (atomic_load(&flag[0]))
        goto again;
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store(&flag[1], 0);
    return NULL;
}

int main(void)
{
    pthread_t s, t;

    pthread_create(&s, NULL, first, NULL);
    pthread_create(&t, NULL, second, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
