// Any number of copies never have all ended.
#include <assert.h>
#include <stdatomic.h>

atomic_int done;

// fencewright: thread worker() any
void worker(void)
{
    done = 1;
}

// fencewright: final check()
void check(void)
{
    assert(done == 1);
}
