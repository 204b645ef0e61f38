#include <pthread.h>
#include <stdatomic.h>
int x;
void *f(void *p) { int *q = (int *) 5; x = *q; return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
