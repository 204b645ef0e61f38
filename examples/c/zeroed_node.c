// A structure with an array is filled with zeros and copied as bytes, then published; readers copy it back.
// source: ours, after the initialization of kernel objects
// expect sc: safe
// expect tso: safe
// expect pso: safe
// expect sc race: safe (a release store publishes the bytes)
// expect tso race: safe
// expect pso race: safe

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct message {
    int length;
    int words[2];
};

_Atomic(struct message *) published;

void *writer(void *argument)
{
    struct message *message = malloc(sizeof(*message));
    (void)argument;
    memset(message, 0, sizeof(*message));
    message->words[1] = 7;
    message->length = 2;
    atomic_store_explicit(&published, message, memory_order_release);
    return NULL;
}

void *reader(void *argument)
{
    struct message copy;
    struct message *message = atomic_load_explicit(&published, memory_order_acquire);
    (void)argument;
    if (message) {
        memcpy(&copy, message, sizeof copy);
        assert(copy.length == 2 && copy.words[0] == 0 && copy.words[1] == 7);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
