#include <pthread.h>
#include <stdatomic.h>
int a[];
void *f(void *p) { a[0] = 1; return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
