#include <pthread.h>
#include <stdatomic.h>
struct s { int x; };
struct s g(void) { struct s it = { 1 }; return it; }
int y;
void *f(void *p) { y = g().z; return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
