/* strangers.cc: more programs whose threads take cache lines from each other, of kinds that
 * sharers.cc does not have, written without a look at what heurt tells of them. Built and run as
 * those.
 *
 *     strangers KIND [PERCENT OF ITS ROUNDS] */
#include "sharers.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <pthread.h>

namespace
{
/* Nested structs in a template, of which each thread has one in an array of the whole. */
template <typename Key, int width> struct OWN_LINE shard {
    struct usage {
        Key last;
        uint32_t hits, misses;
    } use;
    struct extent {
        Key low, high;
    } range;
};

template <typename Key, int count> struct cache {
    shard<Key, count> shards[count];

    APART void fill(int which)
    {
        shard<Key, count> &mine = shards[which];
        uint32_t random = 12345u + static_cast<uint32_t>(which);
        for (long i = 0; i < rounds; i++) {
            random = random * 1664525u + 1013904223u;
            Key key = static_cast<Key>(random >> 8);
            mine.use.last = key;
            if (random & 1024)
                mine.use.hits++;
            else
                mine.use.misses++;
            mine.range.high = key > mine.range.high ? key : mine.range.high;
            __asm__ volatile("" : : : "memory");
        }
    }
};

void nested()
{
    auto *all = new (std::align_val_t(128)) cache<int, threads>();
    on_all([&](int t) { all->fill(t); });
    printf("%u\n", all->shards[0].use.hits);
    operator delete(all, std::align_val_t(128));
}

/* An array of structs that is one member of a union. */
struct OWN_LINE meter {
    uint32_t packets;
    uint32_t dropped;
    uint64_t octets;
};

union report {
    meter meters[threads];
    unsigned char raw[512];
};

report shown;

APART void measure(report *into, int which)
{
    for (long i = 0; i < rounds; i++) {
        into->meters[which].packets++;
        into->meters[which].octets += static_cast<uint64_t>(i) & 1023;
        if ((i & 255) == 0)
            into->meters[which].dropped++;
        __asm__ volatile("" : : : "memory");
    }
}

void union_rows()
{
    on_all([](int t) { measure(&shown, t); });
    printf("%u\n", shown.meters[0].packets);
}

/* Atomics in a vector. */
#ifdef CURED
constexpr size_t apart = 16;
#else
constexpr size_t apart = 1;
#endif

APART void tick(std::vector<std::atomic<uint64_t>> &ticks, size_t which)
{
    for (long i = 0; i < rounds; i++)
        ticks[which * apart].fetch_add(static_cast<uint64_t>(i) & 3);
}

void atomic_vector()
{
    std::vector<std::atomic<uint64_t>> ticks(threads * apart + 16);
    on_all([&](int t) { tick(ticks, static_cast<size_t>(t)); });
    printf("%lu\n", ticks[0].load());
}

/* Bit-fields: one thread's in one word, another's in the next. */
struct modes {
    struct OWN_LINE {
        uint32_t level : 12;
        uint32_t is_open : 1;
        uint32_t seen : 19;
    } heard;
    struct OWN_LINE {
        uint32_t age : 20;
        uint32_t colour : 12;
    } painted;
};

APART void listen(modes *all)
{
    for (long i = 0; i < rounds; i++) {
        all->heard.level = static_cast<uint32_t>(i) & 0xfff;
        all->heard.seen = all->heard.seen + 1u;
        __asm__ volatile("" : : : "memory");
    }
}

APART void paint(modes *all)
{
    for (long i = 0; i < rounds; i++) {
        all->painted.age = all->painted.age + 1u;
        all->painted.colour = static_cast<uint32_t>(i) & 7;
        __asm__ volatile("" : : : "memory");
    }
}

void bit_fields()
{
    auto *all = static_cast<modes *>(calloc(4, 256));
    auto *aligned = reinterpret_cast<modes *>((reinterpret_cast<uintptr_t>(all) + 127) & ~127ul);
    on_all([&](int t) { t ? paint(aligned) : listen(aligned); });
    printf("%u\n", static_cast<unsigned>(aligned->painted.age));
    free(all);
}

/* A class with a mutex for some of its members, and one that its owner changes without. */
class ONE_LINE account
{
    std::mutex guard_;
    long balance_ = 0;
    OWN_LINE long looked_ = 0;

  public:
    APART void pay(long most)
    {
        for (long i = 0; i < most; i++) {
            std::lock_guard<std::mutex> held(guard_);
            balance_ += i & 15;
        }
    }

    APART void look(long most)
    {
        for (long i = 0; i < most; i++) {
            looked_ ^= i;
            __asm__ volatile("" : : : "memory");
        }
    }

    long looked() const
    {
        return looked_;
    }
};

void mutex_beside()
{
    auto *one = new account();
    on_all([&](int t) { t ? one->look(rounds * 2) : one->pay(rounds / 4); });
    printf("%ld\n", one->looked());
    delete one;
}

/* What a thread is given as void *, and casts, as programs in C do. */
struct OWN_LINE job {
    const int *input;
    long count;
    double total;
    double squares;
};

APART void *work_off(void *argument)
{
    job *mine = static_cast<job *>(argument);
    for (long i = 0; i < mine->count; i++) {
        int x = mine->input[i & 1023];
        mine->total += x;
        mine->squares += x * x;
        __asm__ volatile("" : : : "memory");
    }
    return nullptr;
}

void void_pointer()
{
    static int input[1024];
    void *jobs = nullptr;
    if (posix_memalign(&jobs, 128, threads * sizeof(job)) != 0)
        return;
    pthread_t ids[threads];
    for (int t = 0; t < threads; t++) {
        static_cast<job *>(jobs)[t] = {input, rounds, 0, 0};
        pthread_create(&ids[t], nullptr, work_off, static_cast<job *>(jobs) + t);
    }
    for (auto id : ids)
        pthread_join(id, nullptr);
    printf("%f\n", static_cast<job *>(jobs)->total);
    free(jobs);
}

const sharer_kind kinds[] = {{"nested", nested, 200000},
                             {"union_rows", union_rows, 200000},
                             {"atomic_vector", atomic_vector, 60000},
                             {"bit_fields", bit_fields, 150000},
                             {"mutex_beside", mutex_beside, 200000},
                             {"void_pointer", void_pointer, 150000}};
} // namespace

int main(int argc, char **argv)
{
    return run_kind(kinds, argc, argv);
}
