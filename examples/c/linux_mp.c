// Message passing as the Linux kernel writes it.
// source: the litmus test MP+wmb+rmb of the Linux kernel memory model
// expect sc: safe (the data is written before the flag)
// expect tso: safe (stores stay in order)
// expect pso: safe (the write barrier keeps them in order)
// expect sc race: safe (every access is marked)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

int data;
int flag;

void *sender(void *arg)
{
    WRITE_ONCE(data, 1);
    smp_wmb();
    WRITE_ONCE(flag, 1);
    return NULL;
}

void *receiver(void *arg)
{
    if (READ_ONCE(flag)) {
        smp_rmb();
        assert(READ_ONCE(data) == 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, sender, NULL);
    pthread_create(&b, NULL, receiver, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
