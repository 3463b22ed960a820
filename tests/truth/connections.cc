// Four clients share one connection to a store, behind a counting_semaphore; 0.4 ms a question.
// TRUTH: semaphore; place=Store::(ask|query)|client|main; object=connections|semaphore|Store
// Fixed: four connections.
#include "truth.h"

#include <chrono>
#include <semaphore>
#include <thread>
#include <vector>

class Store
{
    std::counting_semaphore<8> connections;

  public:
    explicit Store(int count) : connections(count)
    {
    }
    uint64_t query(uint64_t key)
    {
        connections.acquire();
        std::this_thread::sleep_for(std::chrono::microseconds(400));
        uint64_t row = mix(key, 2000);
        connections.release();
        return row;
    }
};

static void client(Store &store, uint64_t *sum)
{
    for (uint64_t i = 0; i < 300; i++)
        *sum += mix(store.query(i), 30000);
}

int main(int argc, char **argv)
{
    Store store(is_fixed(argc, argv) ? 4 : 1);
    uint64_t sums[4] = {};
    std::vector<std::thread> clients;
    for (auto &sum : sums)
        clients.emplace_back(client, std::ref(store), &sum);
    for (auto &thread : clients)
        thread.join();
    printf("%lx\n", (unsigned long)(sums[0] ^ sums[3]));
}
