// Waits that no pthread function makes, one kind a run: waits_known KIND.  Prints NAME=VALUE lines.
#include "known.h"

#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstring>
#include <latch>
#include <sched.h>
#include <semaphore>
#include <thread>

namespace
{
struct flags {
    std::atomic<int> ready{0}, tid{0};
    std::atomic<unsigned> yields{0};
};
flags shared;
std::barrier<> rounds(2);
std::counting_semaphore<8> tokens(0);
std::atomic<int> phase{0};

// Until the other thread sleeps in the kernel: it can only be in the wait.
void until_it_waits()
{
    while (!shared.tid)
        known__yield();
    while (!known__sleeps(shared.tid, nullptr, 0))
        known__yield();
}

void arrives()
{
    shared.tid = known__tid();
}

// Behind a wait, so that it is not what its function jumps to at its end.
void returned()
{
    shared.tid = 0;
}

__attribute__((noinline)) void poll_until_ready()
{
    while (!shared.ready.load(std::memory_order_acquire)) {
        shared.yields.fetch_add(1, std::memory_order_relaxed);
        sched_yield();
    }
}

void polls()
{
    std::thread poller(poll_until_ready);
    while (shared.yields < 500)
        known__yield();
    shared.ready = 1;
    poller.join();
    std::printf("yields=%u\n", shared.yields.load());
}

__attribute__((noinline)) void wait_for_latch(std::latch &together)
{
    arrives();
    together.arrive_and_wait();
    returned();
}

// On the stack of the thread that joins.
struct meeting {
    int number;
    std::latch together{2};
};

__attribute__((noinline)) void latch()
{
    meeting local{1};
    std::thread waiter([&] { wait_for_latch(local.together); });
    until_it_waits();
    local.together.arrive_and_wait();
    waiter.join();
}

__attribute__((noinline)) void wait_for_round()
{
    arrives();
    rounds.arrive_and_wait();
    returned();
}

void barrier()
{
    std::thread waiter(wait_for_round);
    until_it_waits();
    rounds.arrive_and_wait();
    waiter.join();
}

__attribute__((noinline)) void take_token()
{
    arrives();
    tokens.acquire();
    returned();
}

void semaphore()
{
    std::thread waiter(take_token);
    until_it_waits();
    tokens.release();
    waiter.join();
}

__attribute__((noinline)) void wait_for_phase()
{
    arrives();
    phase.wait(0);
    returned();
}

void atomic()
{
    std::thread waiter(wait_for_phase);
    until_it_waits();
    phase = 1;
    phase.notify_all();
    waiter.join();
}

constexpr struct {
    const char *name;
    void (*run)();
} kinds[] = {
    {"polls", polls},         {"latch", latch},   {"barrier", barrier},
    {"semaphore", semaphore}, {"atomic", atomic},
};
} // namespace

int main(int argc, char **argv)
{
    for (const auto &kind : kinds) {
        if (argc == 1 || std::strcmp(argv[1], kind.name) == 0) {
            shared.tid = 0;
            kind.run();
        }
    }
    return 0;
}
