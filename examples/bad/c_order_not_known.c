#include <pthread.h>
#include <stdatomic.h>
atomic_int x;
int which;
void *f(void *p) { which = 1; atomic_store_explicit(&x, 1, which); return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
