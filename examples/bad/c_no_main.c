#include <pthread.h>
#include <stdatomic.h>
int x;
void f(void) { x = 1; }
