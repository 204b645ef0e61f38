#include <pthread.h>
#include <stdatomic.h>
union u { int a; char b; } u;
void *f(void *p) { u.a = 1; return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
