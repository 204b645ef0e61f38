// A counter without a lock: updates are lost, and it is a race.
// source: folklore
// expect sc: unsafe (both threads may read before one of them writes)
// expect tso: unsafe (as under SC)
// expect sc race: unsafe (nothing orders the accesses)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

int counter;

void *worker(void *arg)
{
    counter++;
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
