#include <pthread.h>
#include <stdatomic.h>
int x, y;
void *f(void *p)
{
    switch (x) { case y: break; }
    return NULL;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
