/* sharers.h: what programs have in common whose threads take cache lines from each other: two
 * threads, a number of rounds, and kinds that are named on the command line. Built with -DCURED,
 * each thread's data have lines of their own. Threads do a fixed amount of work, so that wall times
 * of both are what the cure gains. One source of a program includes it. */
#ifndef SHARERS_H
#define SHARERS_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#ifdef CURED
#define OWN_LINE alignas(128)
#define ONE_LINE
#else
#define OWN_LINE
#define ONE_LINE alignas(64) /* what is smaller lies on one line, wherever it is allocated */
#endif
#define APART __attribute__((noinline))

namespace
{
constexpr int threads = 2;
long rounds;

template <typename Work> void on_all(Work work)
{
    std::vector<std::thread> all;
    for (int t = 0; t < threads; t++)
        all.emplace_back(work, t);
    for (auto &thread : all)
        thread.join();
}

struct sharer_kind {
    const char *name;
    void (*run)();
    long thousands; /* of rounds: a second or so of work at -O2 */
};

/* The kind on the command line, and how much of its rounds, in percent. Without a kind it does
 * nothing. The result is main's. */
template <size_t count> int run_kind(const sharer_kind (&kinds)[count], int argc, char **argv)
{
    for (const auto &kind : kinds)
        if (argc > 1 && strcmp(argv[1], kind.name) == 0) {
            rounds = kind.thousands * 10 * (argc > 2 ? atol(argv[2]) : 100);
            kind.run();
            return 0;
        }
    fputs("usage: PROGRAM KIND [PERCENT OF ITS ROUNDS]\n", stderr);
    return argc > 1;
}
} // namespace

#endif
