// fencewright: thread g(0)
#include <stdatomic.h>
atomic_int x;
void f(int i) { x = i; }
