#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int x;
int sum;

void *run(void *arg)
{
    sum = atomic_fetch_add(&x, 1) + atomic_load(&x);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    pthread_join(t, NULL);
    return 0;
}
