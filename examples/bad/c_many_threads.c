#include <pthread.h>
#include <stdatomic.h>
void *f(void *p) { return NULL; }
int main(void)
{
    pthread_t a;
    for (int i = 0; i < 1000; i++)
        pthread_create(&a, NULL, f, NULL);
    return 0;
}
