struct list {
    struct list next;
    int value;
};
struct list first;
int main(void)
{
    return 0;
}
