#include <pthread.h>
#include <stdatomic.h>
int x;
int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, x, NULL);
    return 0;
}
