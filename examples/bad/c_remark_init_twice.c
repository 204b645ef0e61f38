// fencewright: init setup()
// fencewright: init setup()
// fencewright: thread run()
int x;

void setup(void)
{
    x = 1;
}

void run(void)
{
    x = 2;
}
