/* markers_cxx.cc: marks of heurt.h in C++: regions that an exception leaves, in methods, templates
 * and lambdas. */
#include "known.h"

#include "heurt.h"

#include <stdexcept>
#include <thread>
#include <vector>

namespace
{
enum { REGIONS = 600, THREADS = 3, TURNS = 90, STEP = 9 };

void throws(int i)
{
    HEURT_REGION("throws");
    if (i % 3 == 0)
        throw std::runtime_error("every third");
}

class Worker
{
  public:
    template <typename T> T work(T value)
    {
        HEURT_REGION("template");
        return value + 1;
    }
    int catches(int i)
    {
        HEURT_REGION("catches");
        try {
            HEURT_REGION("tries");
            throws(i);
        } catch (const std::runtime_error &) {
            return 1;
        }
        return 0;
    }
};

void run()
{
    Worker worker;
    int caught = 0;
    for (int i = 0; i < REGIONS; i++) {
        caught += worker.catches(i);
        KNOWN_CHECK(worker.work(i) == i + 1 && worker.work(0.5) == 1.5);
    }
    auto turn = [](int) { heurt_iteration("turns", STEP); };
    for (int i = 0; i < TURNS; i++)
        turn(i);
    heurt_iteration_end("turns");
    KNOWN_CHECK(caught == REGIONS / 3);
}
} // namespace

int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back(run);
    for (auto &thread : threads)
        thread.join();
    known__number("throws", THREADS * REGIONS);
    known__number("catches", THREADS * REGIONS);
    known__number("tries", THREADS * REGIONS);
    known__number("template", THREADS * REGIONS * 2);
    known__number("turns", THREADS * TURNS / STEP);
    return 0;
}
