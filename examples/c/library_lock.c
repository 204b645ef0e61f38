// A lock as a library has it, without `main`: comments say which threads there are.
//
// source: written for this collection
// expect sc: safe (the lock excludes)
// expect tso: safe (the lock excludes)
// expect pso: safe (unlocking releases)
// expect sc race: safe (the lock orders the accesses)
//
// fencewright: thread twice(i) for i in 0..1

#include <assert.h>
#include <stdatomic.h>

static atomic_flag busy = ATOMIC_FLAG_INIT;
static int owner;

void with_lock(int self)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        ;
    owner = self;
    assert(owner == self);
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

void twice(int self)
{
    with_lock(self);
    with_lock(self);
}
