#include <pthread.h>
#include <stdatomic.h>
struct s { int x; } s;
void *f(void *p)
{
    s->x = 1;
    return NULL;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
