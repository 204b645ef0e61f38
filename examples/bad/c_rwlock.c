#include <pthread.h>
#include <stdatomic.h>
pthread_rwlock_t l;
void *f(void *p)
{
    pthread_rwlock_rdlock(&l);
    return NULL;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
