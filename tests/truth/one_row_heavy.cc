// Four threads relax a field round by round; one of them has the rows that cost nearly all.
// TRUTH: barrier|imbalance; place=relax|main|operator|std::barrier
// Fixed: two threads, and rows are dealt out by their cost.
#include "truth.h"

#include <barrier>
#include <thread>
#include <vector>

int main(int argc, char **argv)
{
    bool fixed = is_fixed(argc, argv);
    int count = fixed ? 2 : 4;
    std::barrier meet(count);
    uint64_t sums[4][16] = {};
    std::vector<std::thread> threads;
    for (int t = 0; t < count; t++)
        threads.emplace_back([&, t] {
            uint64_t mine = (uint64_t)t + 1;
            for (int round = 0; round < 120; round++) {
                mine = mix(mine, fixed ? 1000000 : t == 0 ? 1940000 : 20000);
                meet.arrive_and_wait();
            }
            sums[t][0] = mine;
        });
    for (auto &thread : threads)
        thread.join();
    printf("%d\n", sums[0][0] + sums[1][0] + sums[2][0] + sums[3][0] != 0);
}
