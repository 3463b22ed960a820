/* Operators new and delete of C++, of which it is known how many there are: 100 arrays of 25
 * numbers, 10 objects that are aligned, 7 that are asked for without exceptions, and one for which
 * there is no memory. */
#include <cstdio>
#include <new>

struct alignas(128) wide {
    long values[16];
};

static int *volatile numbers;
static wide *volatile aligned;

static __attribute__((noinline)) bool get_too_much(std::size_t count)
{
    try {
        numbers = new int[count];
        delete[] numbers;
    } catch (const std::bad_alloc &) {
        return false;
    }
    return true;
}

int main()
{
    volatile std::size_t many = static_cast<std::size_t>(1) << 60;
    bool had = get_too_much(many);
    for (int i = 0; i < 100; i++) {
        numbers = new int[25];
        delete[] numbers;
    }
    for (int i = 0; i < 10; i++) {
        aligned = new wide;
        delete aligned;
    }
    for (int i = 0; i < 7; i++) {
        numbers = new (std::nothrow) int[5];
        delete[] numbers;
    }
    std::puts(had ? "more than there is" : "no more than there is");
    return had;
}
