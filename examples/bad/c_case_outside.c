#include <pthread.h>
#include <stdatomic.h>
void *f(void *p)
{
    case 1: break;
    return NULL;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
