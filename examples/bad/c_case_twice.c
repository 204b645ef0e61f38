#include <pthread.h>
#include <stdatomic.h>
int x;
void *f(void *p)
{
    switch (x) { case 1: break; case 1: break; }
    return NULL;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
