#include <pthread.h>
#include <stdatomic.h>
double d;
void *f(void *p) { d = 1.5; return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
