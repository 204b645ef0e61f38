#include <pthread.h>
#include <stdatomic.h>
void *f(void *p) { widget w; return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
