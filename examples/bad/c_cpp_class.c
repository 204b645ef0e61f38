class lock { public: int x; };
int main() { return 0; }
