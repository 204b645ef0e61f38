// fencewright: thread worker() any
#include <stdatomic.h>
#include <stddef.h>

atomic_int lock;

void *worker(void *argument)
{
    while (atomic_exchange(&lock, 1))
        ;
    atomic_store(&lock, 0);
    return NULL;
}
