// A bank: tellers move money under a shared_mutex, auditors add up all accounts with it held.
// TRUTH: lock; place=Bank::(transfer|audit)|operator; object=mutex|Bank|bank
// Fixed: auditors add a copy up.
#include "truth.h"

#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

class Bank
{
    std::shared_mutex mutex;
    std::vector<int64_t> accounts = std::vector<int64_t>(2000, 1000);

  public:
    void transfer(size_t from, size_t to, int64_t amount)
    {
        std::unique_lock<std::shared_mutex> guard(mutex);
        accounts[from] -= amount;
        accounts[to] += amount;
    }
    static uint64_t inspect(const std::vector<int64_t> &all)
    {
        uint64_t seen = 0;
        for (int64_t account : all)
            seen += mix((uint64_t)account, 60);
        return seen;
    }
    uint64_t audit(bool of_copy)
    {
        std::shared_lock<std::shared_mutex> guard(mutex);
        if (!of_copy)
            return inspect(accounts);
        std::vector<int64_t> copy = accounts;
        guard.unlock();
        return inspect(copy);
    }
};

int main(int argc, char **argv)
{
    bool fixed = is_fixed(argc, argv);
    Bank bank;
    uint64_t seen = 0, moved = 0;
    std::thread auditor([&] {
        for (int i = 0; i < 3000; i++) {
            seen += bank.audit(fixed);
            seen += mix(seen, 2000);
        }
    });
    std::thread teller([&] {
        uint64_t seed = 9;
        for (int i = 0; i < 6000; i++) {
            seed = mix(seed, 50000);
            bank.transfer(seed % 2000, seed / 2000 % 2000, 5);
            moved += 5;
        }
    });
    auditor.join();
    teller.join();
    printf("%lx %lu\n", (unsigned long)seen, (unsigned long)moved);
}
