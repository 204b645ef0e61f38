#include <pthread.h>
#include <stdatomic.h>
void *g(void *p) { return NULL; }
void *f(void *p) { pthread_t t; pthread_create(&t, NULL, g, NULL); return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
