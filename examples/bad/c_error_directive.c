#error "this file wants another compiler"
#include <pthread.h>
#include <stdatomic.h>
void *f(void *p)
{
    return NULL;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
