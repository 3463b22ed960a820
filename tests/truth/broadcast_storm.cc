// Eight writers commit in the order of their numbers; each commit wakes all that wait.
// TRUTH: condition|lock; place=Journal::commit|operator; object=next|Journal|mutex|changed
// Fixed: they commit in any order.
#include "truth.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

class Journal
{
    std::mutex mutex;
    std::condition_variable changed;
    uint64_t next = 0, sum = 0;
    const bool in_order;

  public:
    explicit Journal(bool ordered) : in_order(ordered)
    {
    }
    void commit(uint64_t number, uint64_t record)
    {
        std::unique_lock<std::mutex> guard(mutex);
        changed.wait(guard, [&] { return !in_order || next == number; });
        sum += record;
        next++;
        if (in_order)
            changed.notify_all();
    }
};

int main(int argc, char **argv)
{
    Journal journal(!is_fixed(argc, argv));
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 8; t++)
        threads.emplace_back([&, t] {
            for (uint64_t i = 0; i < 2500; i++)
                journal.commit(i * 8 + t, mix(i, 8000));
        });
    for (auto &thread : threads)
        thread.join();
}
