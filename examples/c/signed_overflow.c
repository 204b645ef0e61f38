// Two additions that leave the range of an int.
// source: written for this collection
// expect sc: unsafe (the second one overflows)
// expect tso: unsafe (as under SC)

#include <limits.h>
#include <pthread.h>
#include <stddef.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int total = INT_MAX - 1;

void *adder(void *arg)
{
    pthread_mutex_lock(&lock);
    total = total + 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t s, t;

    pthread_create(&s, NULL, adder, NULL);
    pthread_create(&t, NULL, adder, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
