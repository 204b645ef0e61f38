#include <pthread.h>
#include <stdatomic.h>
#define ADD(a, b) ((a) + (b))
int x;
void *f(void *p) { x = ADD(1); return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
