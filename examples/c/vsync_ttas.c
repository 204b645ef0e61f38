// The test-and-test-and-set lock with the atomics of libvsync, which need no header here.
// source: Herlihy and Shavit, The Art of Multiprocessor Programming, section 7.3
// expect sc: safe (mutual exclusion)
// expect tso: safe (the exchange drains, the release keeps the order)
// expect pso: safe (the release keeps the order)
// expect tso race: safe (the counter is behind the lock)
// expect tso hang: safe (whoever has the lock gives it back)

#include <assert.h>
#include <pthread.h>
#include <vsync/atomic.h>

typedef struct ttas_s {
    vatomic32_t state;
} ttas_t;

ttas_t lock = { .state = VATOMIC_INIT(0) };
vuint32_t counter;

static void acquire(ttas_t *l)
{
    for (;;) {
        vatomic32_await_eq_rlx(&l->state, 0);
        if (vatomic32_xchg_acq(&l->state, 1) == 0)
            return;
    }
}

static void release(ttas_t *l)
{
    vatomic32_write_rel(&l->state, 0);
}

void *worker(void *arg)
{
    acquire(&lock);
    counter++;
    release(&lock);
    return NULL;
}

int main(void)
{
    pthread_t t[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(counter == 3);
    return 0;
}
