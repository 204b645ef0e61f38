#include <pthread.h>
#include <stdatomic.h>
int g(int n) { return n ? g(n - 1) : 0; }
void *f(void *p) { g(3); return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
