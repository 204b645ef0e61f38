// Message passing as the Linux kernel writes it, without its barriers.
// source: the litmus test MP+poonceonces of the Linux kernel memory model
// expect sc: safe (the data is written before the flag)
// expect tso: safe (stores stay in order)
// expect pso: unsafe (the flag may be there before the data)
// expect sc race: safe (every access is marked)
// fences pso after-stores by source: 1 set of 1 (between the stores)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

int data;
int flag;

void *sender(void *arg)
{
    WRITE_ONCE(data, 1);
    WRITE_ONCE(flag, 1);
    return NULL;
}

void *receiver(void *arg)
{
    if (READ_ONCE(flag))
        assert(READ_ONCE(data) == 1);
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
