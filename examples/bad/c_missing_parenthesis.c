#include <pthread.h>
#include <stdatomic.h>
int x;
void *f(void *p)
{
    if (x == 1 { x = 2; }
    return NULL;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
