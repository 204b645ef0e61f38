#include <pthread.h>
#include <stdatomic.h>
void g(void) {}
void g(void) {}
void *f(void *p) { return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
