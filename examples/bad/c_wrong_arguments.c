#include <pthread.h>
#include <stdatomic.h>
atomic_int x;
void *f(void *p) { atomic_store_explicit(&x, 1); return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
