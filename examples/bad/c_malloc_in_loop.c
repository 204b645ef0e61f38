#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
void *f(void *p) { for (;;) { int *q = malloc(2 * sizeof(int)); *q = 1; } }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
