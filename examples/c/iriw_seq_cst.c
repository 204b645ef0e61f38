// Two readers and two writers: there is one order of the writes.
// source: the litmus test IRIW
// expect sc: safe (there is one memory)
// expect tso: safe (there is one memory behind the buffers)
// expect pso: safe (the same)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int x, y;
int a, b, c, d;

void *write_x(void *arg)
{
    atomic_store(&x, 1);
    return NULL;
}

void *write_y(void *arg)
{
    atomic_store(&y, 1);
    return NULL;
}

void *read_xy(void *arg)
{
    a = atomic_load(&x);
    b = atomic_load(&y);
    return NULL;
}

void *read_yx(void *arg)
{
    c = atomic_load(&y);
    d = atomic_load(&x);
    return NULL;
}

int main(void)
{
    pthread_t s, t, u, v;

    pthread_create(&s, NULL, write_x, NULL);
    pthread_create(&t, NULL, write_y, NULL);
    pthread_create(&u, NULL, read_xy, NULL);
    pthread_create(&v, NULL, read_yx, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    pthread_join(v, NULL);
    assert(!(a == 1 && b == 0 && c == 1 && d == 0));
    return 0;
}
