// A semaphore for two of three: taking is waiting and subtracting in one step.
// source: the idea of libvsync's semaphore
// expect sc: safe (never three at once)
// expect tso: safe (updates drain)
// expect pso: safe (updates release)
// expect tso hang: safe (whoever took it puts it back)

#include <assert.h>
#include <pthread.h>
#include <vsync/atomic.h>

vatomic32_t free_slots = VATOMIC_INIT(2);
vatomic32_t inside;

void *worker(void *arg)
{
    vatomic32_await_ge_sub_acq(&free_slots, 1, 1);
    assert(vatomic32_inc_get(&inside) <= 2);
    vatomic32_dec(&inside);
    vatomic32_add_rel(&free_slots, 1);
    return NULL;
}

int main(void)
{
    pthread_t t[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
