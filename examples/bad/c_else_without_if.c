#include <pthread.h>
#include <stdatomic.h>
#else
int x;
#endif
void *f(void *p) { return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
