#include <pthread.h>
#include <stdatomic.h>
struct s t;
void *f(void *p) { t = 1; return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
