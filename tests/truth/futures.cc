// A renderer asks a loader for one texture after the other and waits for each with future.get().
// TRUTH: condition|latch; place=render|Loader|main|load
// Fixed: the next textures are asked for while one is painted.
#include "truth.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

class Loader
{
    struct Order {
        uint64_t name;
        std::promise<uint64_t> done;
    };
    std::mutex mutex;
    std::condition_variable ordered;
    std::deque<Order> orders;
    std::thread thread{&Loader::load, this};

    void load()
    {
        for (;;) {
            std::unique_lock<std::mutex> guard(mutex);
            ordered.wait(guard, [this] { return !orders.empty(); });
            Order order = std::move(orders.front());
            orders.pop_front();
            guard.unlock();
            if (order.name == 0)
                return;
            order.done.set_value(mix(order.name, 50000));
        }
    }

  public:
    std::future<uint64_t> ask(uint64_t name)
    {
        std::lock_guard<std::mutex> guard(mutex);
        orders.push_back({name, {}});
        ordered.notify_one();
        return orders.back().done.get_future();
    }
    ~Loader()
    {
        ask(0);
        thread.join();
    }
};

static uint64_t render(Loader &loader, size_t ahead)
{
    std::deque<std::future<uint64_t>> coming;
    uint64_t picture = 0, asked = 0;
    for (int i = 0; i < 4000; i++) {
        while (coming.size() < ahead)
            coming.push_back(loader.ask(++asked));
        picture += mix(coming.front().get(), 60000);
        coming.pop_front();
    }
    return picture;
}

int main(int argc, char **argv)
{
    Loader loader;
    printf("%lx\n", (unsigned long)render(loader, is_fixed(argc, argv) ? 16 : 1));
}
