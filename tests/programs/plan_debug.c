/* A program with debug information, whose functions' parameters tests/unit/test_plan.c asks for. */
struct large {
    long values[8];
};
struct pair {
    int left, right;
};
enum colour { RED, GREEN };

volatile int sink;

__attribute__((noinline)) int takes_numbers(const char *name, double weight, long size,
                                            enum colour colour, unsigned char flag)
{
    sink += (int)weight + (int)size + colour + flag + *name;
    return sink;
}

__attribute__((noinline)) struct large returns_large(int seed, int factor)
{
    struct large large = {{seed, factor, sink}};
    sink += seed;
    return large;
}

__attribute__((noinline)) int takes_pair(int before, struct pair pair, int after)
{
    sink += before + pair.left + after;
    return sink;
}

__attribute__((noinline)) static int is_local(int secret)
{
    sink += secret;
    return sink * secret;
}

int main(int argc, char **argv)
{
    struct pair pair = {argc, 2};
    struct large large = returns_large(argc, 3);
    return takes_numbers(argv[0], 2.5, argc, RED, 1) + takes_pair(1, pair, 2) + is_local(argc) +
               (int)large.values[2] ==
           123456;
}
