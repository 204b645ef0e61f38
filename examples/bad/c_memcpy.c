#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
int a[2], b[2]; unsigned long n;
void *f(void *p)
{
    memcpy(a, b, n);
    return NULL;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
