// Read, encode, write: a stage each, queues between. Encoding takes most of the time.
// TRUTH: condition|imbalance; place=Channel::(send|receive)|operator|encode
// Fixed: two threads encode.
#include "truth.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

class Channel
{
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<uint64_t> items;
    int senders = 1;

  public:
    void expect(int count)
    {
        senders = count;
    }
    void send(uint64_t item)
    {
        std::unique_lock<std::mutex> guard(mutex);
        changed.wait(guard, [this] { return items.size() < 16; });
        items.push_back(item);
        changed.notify_all();
    }
    bool receive(uint64_t &item)
    {
        std::unique_lock<std::mutex> guard(mutex);
        changed.wait(guard, [this] { return !items.empty() || senders == 0; });
        if (items.empty())
            return false;
        item = items.front();
        items.pop_front();
        changed.notify_all();
        return true;
    }
    void close()
    {
        std::lock_guard<std::mutex> guard(mutex);
        senders--;
        changed.notify_all();
    }
};

int main(int argc, char **argv)
{
    Channel raw, coded;
    int encoders = is_fixed(argc, argv) ? 2 : 1;
    coded.expect(encoders);
    std::vector<std::thread> stages;
    stages.emplace_back([&] {
        for (uint64_t i = 0; i < 4000; i++)
            raw.send(mix(i, 1000));
        raw.close();
    });
    for (int i = 0; i < encoders; i++)
        stages.emplace_back([&] {
            for (uint64_t frame; raw.receive(frame);)
                coded.send(mix(frame, 140000));
            coded.close();
        });
    uint64_t sum = 0;
    for (uint64_t frame; coded.receive(frame);)
        sum += mix(frame, 1000);
    for (auto &stage : stages)
        stage.join();
    printf("%lx\n", (unsigned long)sum);
}
