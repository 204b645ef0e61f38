#include <pthread.h>
#include <stdatomic.h>
int x, y;
void *f(void *p) { y = 1; x = 1 << y; return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
