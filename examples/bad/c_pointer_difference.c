#include <pthread.h>
#include <stdatomic.h>
int a, b, x;
void *f(void *p)
{
    x = (int)(&a - &b);
    return NULL;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
