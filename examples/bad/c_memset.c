#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
struct node { int key; int next; } node;
int cells[4];

void *f(void *p)
{
    memset(cells, 255, sizeof cells);
    memset(&node, 0, 8);
    memset(&node, 0);
    memcpy(&node, cells, sizeof node);
    return NULL;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, f, NULL);
    return 0;
}
