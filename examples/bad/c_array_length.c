#include <pthread.h>
#include <stdatomic.h>
int n;
int cells[n];
void *f(void *p)
{
    return NULL;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
