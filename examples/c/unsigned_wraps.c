// Unsigned numbers wrap, whatever their width.
// source: written for this collection
// expect sc: safe (both have gone once around)
// expect tso: safe (updates are not reordered)
// expect pso: safe (as under TSO)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

_Atomic uint32_t wide = UINT32_MAX;
_Atomic uint8_t narrow = 254;

void *adder(void *arg)
{
    wide++;
    atomic_fetch_add(&narrow, 1);
    return NULL;
}

int main(void)
{
    pthread_t s, t;

    pthread_create(&s, NULL, adder, NULL);
    pthread_create(&t, NULL, adder, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    assert(wide == 1);
    assert(narrow == 0);
    return 0;
}
