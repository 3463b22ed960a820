// All workers take the next piece of work, a small one, from one atomic counter, and add up what
// they did in another. TRUTH: true sharing; place=work|next|main; object=next|done|counters Fixed:
// a thousand pieces at a time, added up at the end.
#include "truth.h"

#include <atomic>
#include <thread>
#include <vector>

static struct {
    alignas(64) std::atomic<uint64_t> next{0};
    alignas(64) std::atomic<uint64_t> done{0};
} counters;

static void work(uint64_t pieces, uint64_t at_once)
{
    for (;;) {
        uint64_t piece = counters.next.fetch_add(at_once), sum = 0;
        if (piece >= pieces)
            break;
        for (uint64_t i = piece; i < piece + at_once; i++)
            sum += mix(i, 8) & 1;
        counters.done.fetch_add(sum);
    }
}

int main(int argc, char **argv)
{
    uint64_t at_once = is_fixed(argc, argv) ? 1000 : 1;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back(work, 12000000, at_once);
    for (auto &thread : threads)
        thread.join();
    printf("%lu\n", (unsigned long)counters.done.load());
}
