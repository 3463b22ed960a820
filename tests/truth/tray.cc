// A scanner lays sheets into a tray of four, a reader takes them; who has to wait sleeps a little.
// TRUTH: polling; place=Tray::(lay|take)
// Fixed: conditions.
#include "truth.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unistd.h>

class Tray
{
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<uint64_t> sheets;
    bool fixed;

  public:
    explicit Tray(bool fixed) : fixed(fixed)
    {
    }
    void lay(uint64_t sheet)
    {
        std::unique_lock<std::mutex> guard(mutex);
        while (sheets.size() == 4) {
            if (fixed) {
                changed.wait(guard);
                continue;
            }
            guard.unlock();
            usleep(2500);
            guard.lock();
        }
        sheets.push_back(sheet);
        changed.notify_one();
    }
    uint64_t take()
    {
        std::unique_lock<std::mutex> guard(mutex);
        while (sheets.empty()) {
            if (fixed) {
                changed.wait(guard);
                continue;
            }
            guard.unlock();
            usleep(2500);
            guard.lock();
        }
        uint64_t sheet = sheets.front();
        sheets.pop_front();
        changed.notify_one();
        return sheet;
    }
};

int main(int argc, char **argv)
{
    Tray tray(is_fixed(argc, argv));
    uint64_t sum = 0;
    std::thread scanner([&] {
        for (uint64_t i = 0; i < 800; i++)
            tray.lay(mix(i, 150000));
    });
    std::thread reader([&] {
        for (int i = 0; i < 800; i++)
            sum += mix(tray.take(), 150000);
    });
    scanner.join();
    reader.join();
    printf("%lx\n", (unsigned long)sum);
}
