#include <pthread.h>
#include <stdatomic.h>
struct s { int a; } s;
void *f(void *p) { s.b = 1; return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
