#include <pthread.h>
#include <stdatomic.h>
int x;
void *f(void *p)
{
    x(1);
    return NULL;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
