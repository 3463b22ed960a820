// Buffers are taken from and given back to one lock-free stack.
// TRUTH: true sharing|sharing|overlap|spinning; place=FreeList::(push|pop)|copy|main
// Fixed: each thread has a stack.
#include "truth.h"

#include <atomic>
#include <thread>
#include <vector>

struct Buffer {
    uint32_t next;
    uint64_t bytes[14];
};

class FreeList
{
    std::vector<Buffer> buffers;
    alignas(64) std::atomic<uint64_t> head{0}; // index + 1, and a count above

  public:
    explicit FreeList(uint32_t count) : buffers(count)
    {
        for (uint32_t i = 0; i < count; i++)
            push(i);
    }
    void push(uint32_t index)
    {
        uint64_t old = head.load();
        do
            buffers[index].next = (uint32_t)old;
        while (!head.compare_exchange_weak(old, ((old >> 32) + 1) << 32 | (index + 1)));
    }
    uint32_t pop()
    {
        uint64_t old = head.load(), next;
        do
            next = ((old >> 32) + 1) << 32 | buffers[(uint32_t)old - 1].next;
        while (!head.compare_exchange_weak(old, next));
        return (uint32_t)old - 1;
    }
    Buffer &operator[](uint32_t index)
    {
        return buffers[index];
    }
};

static void copy(FreeList &list, uint64_t *sum)
{
    for (int i = 0; i < 3000000; i++) {
        uint32_t mine = list.pop();
        list[mine].bytes[i % 14] = mix(i, 12);
        *sum += list[mine].bytes[3];
        list.push(mine);
    }
}

int main(int argc, char **argv)
{
    FreeList shared(64), other(64);
    uint64_t sums[2][16] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back(copy, std::ref(i && is_fixed(argc, argv) ? other : shared), sums[i]);
    for (auto &thread : threads)
        thread.join();
    printf("%lx\n", (unsigned long)(sums[0][0] + sums[1][0]));
}
