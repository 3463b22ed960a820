/* names_heap.cc: locks in objects on the heap, that variables point to where they are taken.
 *
 *     name ADDRESS NAME     for each; a thread certainly waits for it once */
#include "known.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class Cache
{
    long hits_ = 0;
    std::vector<int> rows_;
    std::mutex guard_;

  public:
    void get()
    {
        std::lock_guard<std::mutex> lock(guard_);
        hits_++;
    }
    pthread_mutex_t *guard()
    {
        return guard_.native_handle();
    }
};

struct Shard {
    char apart[40];
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
};

static __attribute__((noinline)) void take(Shard *shard)
{
    pthread_mutex_lock(&shard->lock);
    pthread_mutex_unlock(&shard->lock);
}

template <typename Work> static void contend(pthread_mutex_t *lock, const char *name, Work work)
{
    std::atomic<int> tid{0};
    pthread_mutex_lock(lock);
    std::thread waiter([&] {
        tid = known__tid();
        work();
    });
    while (!tid)
        known__yield();
    known__await_sleep(tid, lock, sizeof *lock);
    pthread_mutex_unlock(lock);
    waiter.join();
    printf("name 0x%llx %s\n", (unsigned long long)(uintptr_t)lock, name);
}

int main()
{
    auto cache = std::make_unique<Cache>();
    auto shards = std::make_unique<Shard[]>(2);
    contend(cache->guard(), "Cache::guard_", [&] { cache->get(); });
    for (int i = 0; i < 2; i++)
        contend(&shards[i].lock, i ? "Shard::lock #2" : "Shard::lock #1",
                [&, i] { take(&shards[i]); });
    return 0;
}
