// Workers wait at a latch until all tables are loaded; one of the tables is much larger.
// TRUTH: latch|barrier; place=load|work|operator; object=ready|latch
// Fixed: both load half of each table.
#include "truth.h"

#include <latch>
#include <thread>
#include <vector>

static uint64_t load(uint64_t rows)
{
    uint64_t table = 1;
    for (uint64_t i = 0; i < rows; i++)
        table += mix(i, 400);
    return table;
}

static void work(std::latch &ready, uint64_t rows, uint64_t *result)
{
    uint64_t table = load(rows);
    ready.arrive_and_wait();
    for (int i = 0; i < 300; i++)
        table += mix(table, 1000000 / 2);
    *result = table;
}

int main(int argc, char **argv)
{
    const uint64_t rows[2][2] = {{700000, 50000}, {375000, 375000}};
    std::latch ready(2);
    uint64_t results[2];
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back(work, std::ref(ready), rows[is_fixed(argc, argv)][i], &results[i]);
    for (auto &thread : threads)
        thread.join();
    printf("%lx\n", (unsigned long)(results[0] + results[1]));
}
