#include <pthread.h>
pthread_mutex_t m;
int x;
void *f(void *p) { pthread_mutex_lock(&m); pthread_cond_wait(&x, &m); return NULL; }

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
