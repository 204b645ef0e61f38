#include <pthread.h>
#include <stdatomic.h>
int x; /* no end
void *f(void *p) { return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
