// A typesetter and a printer lend each other one page; two semaphores say whose it is, each behind
// two little functions. TRUTH: semaphore|condition; place=Pages<1l>|set|print Fixed: four pages.
#include "truth.h"

#include <array>
#include <cstddef>
#include <semaphore>
#include <thread>

template <ptrdiff_t Count> class Pages
{
    std::array<uint64_t, Count> pages{};
    std::counting_semaphore<Count> empty{Count}, full{0};
    size_t set_at = 0, printed_at = 0;

  public:
    __attribute__((noinline)) uint64_t &blank()
    {
        empty.acquire();
        return pages[set_at++ % Count];
    }
    __attribute__((noinline)) void is_set()
    {
        full.release();
    }
    __attribute__((noinline)) uint64_t &to_print()
    {
        full.acquire();
        return pages[printed_at++ % Count];
    }
    __attribute__((noinline)) void is_printed()
    {
        empty.release();
    }
};

template <ptrdiff_t Count> static uint64_t publish()
{
    static Pages<Count> pages;
    uint64_t sum = 0;
    std::thread typesetter([&] {
        for (uint64_t i = 0; i < 2000; i++) {
            uint64_t &page = pages.blank();
            page = mix(i, 200000);
            pages.is_set();
        }
    });
    std::thread printer([&] {
        for (uint64_t i = 0; i < 2000; i++) {
            sum += mix(pages.to_print() + i, 200000);
            pages.is_printed();
        }
    });
    typesetter.join();
    printer.join();
    return sum;
}

int main(int argc, char **argv)
{
    printf("%lu\n", is_fixed(argc, argv) ? publish<4>() : publish<1>());
}
