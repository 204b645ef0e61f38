#include <pthread.h>
#include <stdatomic.h>
int x;
void a(int i) { x = i; }
void b(int i) { x = -i; }
void (*g)(int) = a;
void h(void) { g = b; }
void *f(void *p)
{
    g(1);
    return NULL;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
