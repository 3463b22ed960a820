// Accesses memory a known number of times, and prints how often it did, in C++: see
// accesses_known.c.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

// Others may use it, as far as the compiler knows.
alignas(64) std::atomic<long> flag{0};

namespace
{

constexpr int called = 2000, swapped = 600, stored = 1500, filled = 256;

struct shape {
    virtual ~shape() = default;
    virtual void draw() = 0;
};

struct circle : shape {
    volatile long drawn = 0;
    void draw() override
    {
        drawn = drawn + 1;
    }
};

alignas(64) std::atomic<int> owner{-1};
alignas(64) volatile unsigned char bytes[filled];

void take_turns(int me)
{
    for (int done = 0; done < swapped;) {
        int nobody = -1;
        if (owner.compare_exchange_strong(nobody, me)) {
            owner.store(-1, std::memory_order_release);
            done++;
        }
    }
}

} // namespace

int main()
{
    shape *drawn = new circle;
    for (int i = 0; i < called; i++)
        drawn->draw();
    std::thread first(take_turns, 0);
    first.join();
    std::thread second(take_turns, 1);
    second.join();
    for (int i = 0; i < stored; i++)
        flag.store(i, std::memory_order_release);
    long seen = 0;
    for (int i = 0; i < stored; i++)
        seen += flag.load(std::memory_order_acquire);
    for (int i = 0; i < filled; i++)
        bytes[i] = static_cast<unsigned char>(i);
    std::printf("drawn %d\n", called);
    std::printf("owner %d %d true sharing\n", 2 * swapped, 4 * swapped);
    std::printf("flag %d %d private\n", stored, stored);
    std::printf("bytes 0 %d private\n", filled);
    delete drawn;
    return seen == 0;
}
