#include <pthread.h>
#include <stdatomic.h>
int x;
void *f(void *p) { x = random_number(); return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
