/* sharers.cc: programs whose threads take cache lines from each other, each a kind that is named on
 * the command line, and the same program cured: built with -DCURED, where each thread's data have
 * lines of their own (false sharing), or each thread has an accumulator of its own (true sharing).
 *
 *     sharers KIND [PERCENT OF ITS ROUNDS] */
#include "sharers.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <pthread.h>

namespace
{
/* ---- false sharing --------------------------------------------------------------------------- */

/* As Phoenix's linear_regression does: sums of points in a struct that the thread was given. */
struct point {
    signed char x, y;
};

struct OWN_LINE lreg_args {
    const point *points;
    long count;
    long sx, sy, sxx, syy, sxy;
};

APART void *regress(void *argument)
{
    auto *args = static_cast<lreg_args *>(argument);
    for (long i = 0; i < args->count; i++) {
        const point *at = &args->points[i & 4095];
        args->sx += at->x;
        args->sxx += at->x * at->x;
        args->sy += at->y;
        args->syy += at->y * at->y;
        args->sxy += at->x * at->y;
        __asm__ volatile("" : : : "memory");
    }
    return nullptr;
}

void regression()
{
    std::vector<point> points(4096);
    for (size_t i = 0; i < points.size(); i++)
        points[i] = {static_cast<signed char>(i), static_cast<signed char>(i * 7)};
    auto *args = static_cast<lreg_args *>(aligned_alloc(128, 1024));
    memset(static_cast<void *>(args), 0, 1024);
    on_all([&](int t) {
        args[t].points = points.data();
        args[t].count = rounds;
        regress(&args[t]);
    });
    printf("%ld\n", args[0].sxy);
    free(args);
}

/* Counters beside each other, on the heap. */
struct OWN_LINE counter {
    volatile long hits;
};

APART void count(counter *mine)
{
    for (long i = 0; i < rounds; i++)
        mine->hits = mine->hits + 1;
}

void counters()
{
    auto *all = static_cast<counter *>(aligned_alloc(128, 1024));
    memset(static_cast<void *>(all), 0, 1024);
    on_all([&](int t) { count(&all[t]); });
    printf("%ld\n", all[0].hits);
    free(all);
}

/* Two fields of one struct: one for who takes, one for who gives. */
struct ONE_LINE queue_statistics {
    OWN_LINE volatile uint64_t given;
    uint64_t given_bytes;
    OWN_LINE volatile uint64_t taken;
    uint64_t taken_bytes;
};

APART void give(queue_statistics *statistics)
{
    for (long i = 0; i < rounds; i++) {
        statistics->given = statistics->given + 1;
        statistics->given_bytes += static_cast<uint64_t>(i) & 63;
    }
}

APART void take(queue_statistics *statistics)
{
    for (long i = 0; i < rounds; i++) {
        statistics->taken = statistics->taken + 1;
        statistics->taken_bytes += static_cast<uint64_t>(i) & 31;
    }
}

void fields()
{
    auto *statistics = new queue_statistics();
    on_all([&](int t) { t ? take(statistics) : give(statistics); });
    printf("%lu\n", statistics->given_bytes);
    delete statistics;
}

/* Static variables that lie side by side; each iteration does other work, too. */
struct {
    OWN_LINE volatile uint64_t left;
    OWN_LINE volatile uint64_t right;
} totals;

APART void add_up(volatile uint64_t *total, const uint32_t *table)
{
    uint64_t x = 88172645463325252ULL;
    for (long i = 0; i < rounds; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        *total = *total + table[x & 1023];
    }
}

void statics()
{
    std::vector<uint32_t> table(1024, 3);
    on_all([&](int t) { add_up(t ? &totals.right : &totals.left, table.data()); });
    printf("%lu\n", totals.left);
}

/* Atomic counters beside each other. */
struct OWN_LINE atomic_counter {
    std::atomic<uint64_t> requests{0};
};

APART void request(atomic_counter *mine)
{
    for (long i = 0; i < rounds; i++)
        mine->requests.fetch_add(1, std::memory_order_relaxed);
}

void atomics()
{
    auto *all = new atomic_counter[threads];
    on_all([&](int t) { request(&all[t]); });
    printf("%lu\n", all[0].requests.load());
    delete[] all;
}

/* A mutex that one thread takes, and what another one counts beside it. */
struct guarded {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    uint64_t value = 0;
    OWN_LINE volatile uint64_t polls = 0;
};

APART void guard(guarded *all)
{
    for (long i = 0; i < rounds / 4; i++) {
        pthread_mutex_lock(&all->lock);
        all->value += 3;
        pthread_mutex_unlock(&all->lock);
    }
}

APART void poll(guarded *all)
{
    for (long i = 0; i < rounds * 2; i++)
        all->polls = all->polls + 1;
}

void beside_mutex()
{
    auto *all = new (std::align_val_t(128)) guarded();
    on_all([&](int t) { t ? poll(all) : guard(all); });
    printf("%lu\n", all->polls);
}

/* Rows of 16 bytes, of which an iteration changes both halves after some arithmetic. */
struct OWN_LINE tally {
    double sum;
    uint64_t seen;
};

APART void weigh(tally *mine)
{
    double x = 0.3;
    for (long i = 0; i < rounds; i++) {
        x = 3.7 * x * (1 - x);
        mine->sum += x;
        if (x > 0.5)
            mine->seen++;
        __asm__ volatile("" : : : "memory");
    }
}

void rows()
{
    auto *all = static_cast<tally *>(aligned_alloc(128, 1024));
    memset(static_cast<void *>(all), 0, 1024);
    on_all([&](int t) { weigh(&all[t]); });
    printf("%f\n", all[0].sum);
    free(all);
}

/* Variables of a function's frame, given to threads by pointer. */
struct frame {
    OWN_LINE volatile long left;
    OWN_LINE volatile long right;
};

APART void step(volatile long *mine)
{
    for (long i = 0; i < rounds; i++) {
        *mine = *mine + i;
        *mine = *mine ^ 5;
    }
}

void stack()
{
    frame local = {0, 0};
    on_all([&](int t) { step(t ? &local.right : &local.left); });
    printf("%ld\n", local.left);
}

/* Histograms of four buckets each. */
struct OWN_LINE histogram {
    uint64_t buckets[4];
};

APART void sort_in(histogram *mine, const unsigned char *bytes)
{
    for (long i = 0; i < rounds; i++) {
        mine->buckets[bytes[i & 8191] >> 6]++;
        __asm__ volatile("" : : : "memory");
    }
}

void histograms()
{
    std::vector<unsigned char> bytes(8192);
    for (auto &byte : bytes)
        byte = static_cast<unsigned char>(rand());
    auto *all = static_cast<histogram *>(aligned_alloc(128, 1024));
    memset(static_cast<void *>(all), 0, 1024);
    on_all([&](int t) { sort_in(&all[t], bytes.data()); });
    printf("%lu\n", all[0].buckets[0]);
    free(all);
}

/* What all read stands beside what one writes. */
struct settings {
    OWN_LINE volatile uint64_t limit;
    OWN_LINE volatile uint64_t written;
};

APART void write_often(settings *all)
{
    for (long i = 0; i < rounds * 4; i++)
        all->written = static_cast<uint64_t>(i);
}

APART uint64_t read_often(const settings *all)
{
    uint64_t sum = 0;
    for (long i = 0; i < rounds * 4; i++)
        sum += all->limit ^ static_cast<uint64_t>(i);
    return sum;
}

void reader()
{
    auto *all = new (std::align_val_t(128)) settings();
    on_all([&](int t) {
        if (t)
            write_often(all);
        else
            printf("%lu\n", read_often(all) & 1);
    });
}

/* Generators of random numbers that keep their state in memory. */
struct OWN_LINE generator {
    uint64_t state[2];
};

APART uint64_t next(generator *self)
{
    uint64_t a = self->state[0], b = self->state[1];
    self->state[0] = b;
    a ^= a << 23;
    self->state[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
    return self->state[1] + b;
}

APART uint64_t draw(generator *mine)
{
    uint64_t sum = 0;
    for (long i = 0; i < rounds; i++)
        sum += next(mine);
    return sum;
}

void generators()
{
    auto *all = static_cast<generator *>(aligned_alloc(128, 1024));
    memset(static_cast<void *>(all), 0, 1024);
    on_all([&](int t) {
        all[t].state[0] = static_cast<uint64_t>(t) + 1;
        printf("%lu\n", draw(&all[t]) & 1);
    });
    free(all);
}

/* Members of a class that a template makes. */
template <typename Value> struct OWN_LINE accumulator {
    Value sum{}, least{}, most{};

    APART void add(Value value)
    {
        sum += value;
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
};

APART void accumulate(accumulator<int> *mine)
{
    for (long i = 0; i < rounds; i++)
        mine->add(static_cast<int>(i * 7919) >> 8);
}

void members()
{
    auto *all = static_cast<accumulator<int> *>(aligned_alloc(128, 1024));
    memset(static_cast<void *>(all), 0, 1024);
    on_all([&](int t) { accumulate(&all[t]); });
    printf("%d\n", all[0].most);
    free(all);
}

/* ---- true sharing ---------------------------------------------------------------------------- */

struct alignas(128) own_counter {
    std::atomic<uint64_t> hits{0};
};

own_counter one_for_all, one_each[threads];

APART void hit(own_counter *counter)
{
    for (long i = 0; i < rounds; i++)
        counter->hits.fetch_add(1, std::memory_order_relaxed);
}

void one_counter()
{
#ifdef CURED
    on_all([](int t) { hit(&one_each[t]); });
#else
    on_all([](int) { hit(&one_for_all); });
#endif
    printf("%lu\n", one_for_all.hits + one_each[0].hits);
}

struct catalogue {
    long values[64];
};

APART long look_up(const std::shared_ptr<catalogue> &from)
{
    long sum = 0;
    for (long i = 0; i < rounds / 4; i++) {
#ifdef CURED
        const std::shared_ptr<catalogue> &held = from;
#else
        std::shared_ptr<catalogue> held = from;
#endif
        for (int k = 0; k < 4; k++)
            sum += held->values[(i + k) & 63];
        __asm__ volatile("" : : : "memory");
    }
    return sum;
}

void shared_pointer()
{
    auto catalogue_of_all = std::make_shared<catalogue>();
    on_all([&](int) { printf("%ld\n", look_up(catalogue_of_all) & 1); });
}

/* ---- which ----------------------------------------------------------------------------------- */

const sharer_kind kinds[] = {{"regression", regression, 200000},
                             {"counters", counters, 1000000},
                             {"fields", fields, 800000},
                             {"statics", statics, 300000},
                             {"atomics", atomics, 300000},
                             {"beside_mutex", beside_mutex, 300000},
                             {"rows", rows, 150000},
                             {"stack", stack, 800000},
                             {"histograms", histograms, 600000},
                             {"reader", reader, 500000},
                             {"generators", generators, 150000},
                             {"members", members, 250000},
                             {"one_counter", one_counter, 200000},
                             {"shared_pointer", shared_pointer, 200000}};
} // namespace

int main(int argc, char **argv)
{
    return run_kind(kinds, argc, argv);
}
