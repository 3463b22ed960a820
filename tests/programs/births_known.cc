/* Objects of several places of the program that all come from one wrapper of malloc, and such that
 * templates of C++ allocate: two threads count in each of them for a while. */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

struct Cell {
    volatile long hits;
};

extern "C" __attribute__((noinline)) void *xmalloc(std::size_t bytes)
{
    void *memory = std::calloc(1, bytes);
    if (!memory)
        std::abort();
    return memory;
}

static __attribute__((noinline)) Cell *make_first()
{
    return static_cast<Cell *>(xmalloc(4 * sizeof(Cell))); /* first */
}

static __attribute__((noinline)) Cell *make_second()
{
    Cell *made[3] = {};
    for (Cell *&one : made)
        one = static_cast<Cell *>(xmalloc(4 * sizeof(Cell))); /* second */
    std::free(made[0]);
    std::free(made[1]);
    return made[2];
}

struct Table {
    std::vector<Cell> cells;
    explicit Table(std::size_t count)
    {
        cells.resize(count); /* third */
    }
};

static void count(Cell *cell)
{
    for (long i = 0; i < 80000000; i++)
        cell->hits = cell->hits + 1;
}

static void race(Cell *cells)
{
    std::thread other(count, cells);
    count(cells + 1);
    other.join();
}

int main()
{
    Cell *first = make_first(), *second = make_second();
    auto third = std::make_unique<Table>(4);
    race(first);
    race(second);
    race(third->cells.data());
    std::printf("%ld\n", first[0].hits + second[0].hits + third->cells[0].hits);
    std::free(first);
    std::free(second);
    return 0;
}
