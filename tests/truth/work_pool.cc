// A pool whose workers take very small tasks from one list under one mutex; some tasks add others.
// TRUTH: lock; place=Pool::(take|add|run); object=mutex
// Fixed: a list for each worker, and stealing when that is empty.
#include "truth.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Task {
    uint64_t seed;
    int depth;
};

class Pool
{
    struct alignas(64) Lane {
        std::mutex mutex;
        std::deque<Task> tasks;
        std::atomic<int> added{0}, done{0};
    };
    std::vector<std::unique_ptr<Lane>> lanes;
    std::atomic<uint64_t> sum{0};

    bool take(size_t first, Task &task)
    {
        for (size_t i = 0; i < lanes.size(); i++) {
            Lane &lane = *lanes[(first + i) % lanes.size()];
            std::lock_guard<std::mutex> guard(lane.mutex);
            if (lane.tasks.empty())
                continue;
            task = lane.tasks.back();
            lane.tasks.pop_back();
            return true;
        }
        return false;
    }

  public:
    explicit Pool(size_t count)
    {
        for (size_t i = 0; i < count; i++)
            lanes.push_back(std::make_unique<Lane>());
    }
    void add(size_t lane, Task task)
    {
        Lane &to = *lanes[lane % lanes.size()];
        to.added++;
        std::lock_guard<std::mutex> guard(to.mutex);
        to.tasks.push_back(task);
    }
    bool is_open() const
    {
        int done = 0, added = 0; /* in this order: what is done was added before */
        for (auto &lane : lanes)
            done += lane->done;
        for (auto &lane : lanes)
            added += lane->added;
        return done < added;
    }
    void work(size_t me)
    {
        uint64_t mine = 0;
        Task task;
        while (true) {
            if (!take(me, task)) {
                if (!is_open())
                    break;
                std::this_thread::yield();
                continue;
            }
            mine += mix(task.seed, 60);
            for (int i = 0; i < 2 && task.depth > 0; i++)
                add(me, {task.seed * 3 + i, task.depth - 1});
            lanes[me % lanes.size()]->done++;
        }
        sum += mine;
    }
    void run(size_t threads)
    {
        std::vector<std::thread> all;
        for (size_t i = 0; i < threads; i++)
            all.emplace_back(&Pool::work, this, i);
        for (auto &thread : all)
            thread.join();
        printf("%lx\n", (unsigned long)sum.load());
    }
};

int main(int argc, char **argv)
{
    Pool pool(is_fixed(argc, argv) ? 2 : 1);
    for (uint64_t i = 0; i < 64; i++)
        pool.add(i, {i, 14});
    pool.run(2);
}
