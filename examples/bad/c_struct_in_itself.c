struct a {
    struct a {
        int x;
    } y;
};
struct a first;
int main(void)
{
    return 0;
}
