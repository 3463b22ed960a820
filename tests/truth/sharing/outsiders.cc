/* outsiders.cc: four more programs whose threads take cache lines from each other, written after
 * sharers.cc and strangers.cc were judged, and before these were. Built and run as those.
 *
 *     outsiders KIND [PERCENT OF ITS ROUNDS] */
#include "sharers.h"

#include <cstdint>
#include <new>
#include <string>

namespace
{
/* Two things that begin on one line are looked for; cured, no two do. */
template <typename Thing> uintptr_t line_of(Thing *thing)
{
    return reinterpret_cast<uintptr_t>(thing) / 64;
}

/* Objects with a destructor, so that new[] keeps their number before them. */
class OWN_LINE session
{
    uint64_t bytes_ = 0;
    uint32_t packets_ = 0, dropped_ = 0;
    std::string peer_;

  public:
    APART void receive()
    {
        for (long i = 0; i < rounds; i++) {
            bytes_ += static_cast<uint64_t>(i) & 1499;
            packets_++;
            if ((i & 63) == 0)
                dropped_++;
            __asm__ volatile("" : : : "memory");
        }
    }

    uint64_t bytes() const
    {
        return bytes_ + peer_.size();
    }
};

constexpr size_t count_of_sessions = 8;

void sessions()
{
    auto *all = new session[count_of_sessions];
    session *first = all;
    while (first < all + count_of_sessions - threads && line_of(first) != line_of(first + 1))
        first++;
    on_all([&](int t) { first[t].receive(); });
    printf("%lu\n", all[0].bytes());
    delete[] all;
}

/* A static array of two dimensions, of which each thread has a row. */
struct cell {
    float value;
    int32_t hits;
};

struct ONE_LINE grid {
    int32_t width;
    struct OWN_LINE {
        cell cells[3];
    } rows[threads];
};

grid board;

APART void walk(grid *on, int row)
{
    uint32_t random = 99u + static_cast<uint32_t>(row);
    for (long i = 0; i < rounds; i++) {
        random = random * 1664525u + 1013904223u;
        cell *here = &on->rows[row].cells[(random >> 16) % 3];
        here->value += 0.5f;
        here->hits++;
        __asm__ volatile("" : : : "memory");
    }
}

void boards()
{
    on_all([](int t) { walk(&board, t); });
    printf("%d\n", board.rows[0].cells[0].hits);
}

/* Statistics of workers in a vector, by reference. */
struct OWN_LINE worker_stats {
    uint32_t done = 0, failed = 0;
    double spent = 0;
};

APART void work_through(std::vector<worker_stats> &all, size_t which)
{
    worker_stats &mine = all[which];
    for (long i = 0; i < rounds; i++) {
        mine.spent += 1e-3;
        if (i % 5)
            mine.done++;
        else
            mine.failed++;
        __asm__ volatile("" : : : "memory");
    }
}

void workers()
{
    std::vector<worker_stats> all(threads + 1);
    size_t first = line_of(&all[0]) == line_of(&all[1]) ? 0 : 1;
    on_all([&](int t) { work_through(all, first + static_cast<size_t>(t)); });
    printf("%u\n", all[0].done);
}

/* A slab with a head, from which a template gives pieces. */
struct slab {
    size_t used, bytes;
    char memory[];

    static slab *make(size_t bytes)
    {
        void *memory = nullptr;
        if (posix_memalign(&memory, 128, bytes) != 0)
            abort();
        auto *made = static_cast<slab *>(memory);
        made->used = 0;
        made->bytes = bytes - sizeof(slab);
        return made;
    }

    template <typename Thing> Thing *take()
    {
        size_t at = (sizeof(slab) + used + alignof(Thing) - 1) / alignof(Thing) * alignof(Thing);
        used = at + sizeof(Thing) - sizeof(slab);
        return new (reinterpret_cast<char *>(this) + at) Thing();
    }
};

struct OWN_LINE counter_desk {
    uint64_t served = 0;
    uint64_t longest = 0;
};

APART void serve(counter_desk *desk)
{
    uint64_t x = 88172645463325252ULL;
    for (long i = 0; i < rounds; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        desk->served++;
        desk->longest = (x & 4095) > desk->longest ? x & 4095 : desk->longest;
        __asm__ volatile("" : : : "memory");
    }
}

void slabs()
{
    slab *from = slab::make(1024);
    counter_desk *desks[threads];
    for (auto &desk : desks)
        desk = from->take<counter_desk>();
    on_all([&](int t) { serve(desks[t]); });
    printf("%lu\n", desks[0]->served);
    free(from);
}

const sharer_kind kinds[] = {{"sessions", sessions, 150000},
                             {"boards", boards, 120000},
                             {"workers", workers, 150000},
                             {"slabs", slabs, 150000}};
} // namespace

int main(int argc, char **argv)
{
    return run_kind(kinds, argc, argv);
}
