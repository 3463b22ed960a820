// A grid is swept in rounds with a std::barrier between; the lower half has most of the particles.
// TRUTH: barrier; place=sweep|operator|Grid; object=barrier|round
// Fixed: rows are divided by particles.
#include "truth.h"

#include <barrier>
#include <thread>
#include <vector>

struct Grid {
    std::vector<int> particles;
    std::vector<uint64_t> energy;
    explicit Grid(int rows)
    {
        for (int i = 0; i < rows; i++)
            particles.push_back(i < rows / 2 ? 40 : 200);
        energy.resize(rows);
    }
    void sweep(int from, int to)
    {
        for (int i = from; i < to; i++)
            energy[i] = mix(energy[i] + i, particles[i] * 15);
    }
};

int main(int argc, char **argv)
{
    const int rows = 240, middle = is_fixed(argc, argv) ? 168 : 120;
    Grid grid(rows);
    std::barrier round(2);
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; t++)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 1200; i++) {
                grid.sweep(t ? middle : 0, t ? rows : middle);
                round.arrive_and_wait();
            }
        });
    for (auto &thread : threads)
        thread.join();
    printf("%lx\n", (unsigned long)grid.energy[7]);
}
