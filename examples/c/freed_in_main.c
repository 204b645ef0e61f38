// What was freed is written to, before there is any other thread.
//
// source: written for this collection
// expect sc: unsafe (the box is freed before it is written to)
// expect tso: unsafe (as under SC)

#include <pthread.h>
#include <stdlib.h>

struct box {
    int value;
};

void *idle(void *arg)
{
    return arg;
}

int main(void)
{
    pthread_t thread;
    struct box *it = malloc(sizeof(*it));

    it->value = 1;
    free(it);
    it->value = 2;
    pthread_create(&thread, NULL, idle, NULL);
    pthread_join(thread, NULL);
    return 0;
}
