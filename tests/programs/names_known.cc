/* names_known.cc: locks of C++ that have names in the source, or stand in objects that have.
 *
 *     name ADDRESS NAME     for each; a thread certainly waits for it once */
#include "known.h"

#include <array>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>

template <typename Lock> static void contend(Lock &lock, const char *name)
{
    std::atomic<int> tid{0};
    lock.lock();
    std::thread waiter([&] {
        tid = known__tid();
        lock.lock();
        lock.unlock();
    });
    while (!tid)
        known__yield();
    known__await_sleep(tid, &lock, sizeof lock);
    lock.unlock();
    waiter.join();
    printf("name 0x%llx %s\n", (unsigned long long)(uintptr_t)&lock, name);
}

namespace cache
{
std::mutex mutex;

class store
{
  public:
    static std::recursive_mutex shared;
    static inline std::mutex placed;
    virtual ~store() = default;
    std::mutex &own()
    {
        return own_;
    }

  private:
    long size_ = 0;
    std::mutex own_;
};
std::recursive_mutex store::shared;

struct counted {
    int count = 0;
    std::shared_mutex guard;
};

class keeper : public store, public counted
{
  public:
    std::array<counted, 3> parts;
    struct {
        char padding[3];
        std::timed_mutex late;
    } inner;
};
keeper one;
} // namespace cache

namespace
{
std::mutex hidden;
std::array<cache::counted, 4> rows;
} // namespace

template <typename Number> struct of_number {
    static std::mutex lock;
};
template <typename Number> std::mutex of_number<Number>::lock;

int main()
{
    contend(cache::mutex, "cache::mutex");
    contend(cache::store::shared, "cache::store::shared");
    contend(cache::store::placed, "cache::store::placed");
    contend(cache::one.own(), "cache::one.own_");
    contend(cache::one.guard, "cache::one.guard");
    contend(cache::one.parts[2].guard, "cache::one.parts[2].guard");
    contend(cache::one.inner.late, "cache::one.inner.late");
    contend(hidden, "(anonymous namespace)::hidden");
    contend(rows[3].guard, "(anonymous namespace)::rows[3].guard");
    contend(of_number<long>::lock, "of_number<long>::lock");
    static std::mutex local;
    contend(local, "main::local");
    return 0;
}
