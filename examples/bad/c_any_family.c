// Any number of copies are all alike: they have no index.
#include <stdatomic.h>

atomic_int last;

// fencewright: thread worker(i) for i in 0..2 any
void worker(int i)
{
    last = i;
}
