#include <pthread.h>
#include <stdatomic.h>
void *f(void *p)
{
    int a = 1;
    int a = 2;
    return NULL;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
