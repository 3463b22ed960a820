// A monitor as in Java: who finds it owned parks at a condition of its own until the owner leaves.
// TRUTH: lock|condition; place=Monitor::enter|Warehouse|Parker|operator
// Fixed: a warehouse for each thread.
#include "truth.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

class Parker
{
    std::mutex mutex;
    std::condition_variable unparked;
    bool permit = false;

  public:
    void park()
    {
        std::unique_lock<std::mutex> guard(mutex);
        unparked.wait(guard, [this] { return permit; });
        permit = false;
    }
    void unpark()
    {
        std::lock_guard<std::mutex> guard(mutex);
        permit = true;
        unparked.notify_one();
    }
};

class Monitor
{
    std::atomic<bool> owned{false};
    std::mutex list_mutex;
    std::deque<Parker *> entry_list;

  public:
    void enter()
    {
        static thread_local Parker parker;
        while (owned.exchange(true)) {
            {
                std::lock_guard<std::mutex> guard(list_mutex);
                if (!owned.exchange(true))
                    return;
                entry_list.push_back(&parker);
            }
            parker.park();
        }
    }
    void exit()
    {
        std::lock_guard<std::mutex> guard(list_mutex);
        owned.store(false);
        if (entry_list.empty())
            return;
        entry_list.front()->unpark();
        entry_list.pop_front();
    }
};

class Warehouse
{
    Monitor monitor;
    std::map<uint64_t, int> stock;

  public:
    void deliver(uint64_t article)
    {
        monitor.enter();
        stock[mix(article, 20000) % 300]++;
        monitor.exit();
    }
};

int main(int argc, char **argv)
{
    Warehouse warehouses[2];
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; t++)
        threads.emplace_back([&, t] {
            for (uint64_t i = 0; i < 12000; i++)
                warehouses[is_fixed(argc, argv) ? t : 0].deliver(mix(i, 10000));
        });
    for (auto &thread : threads)
        thread.join();
}
