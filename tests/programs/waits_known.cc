// Waits that no pthread function makes, one kind a run: waits_known KIND.  Prints NAME=VALUE lines.
#include "known.h"

#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstring>
#include <latch>
#include <mutex>
#include <sched.h>
#include <semaphore>
#include <signal.h>
#include <sys/wait.h>
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

// Asks again and again, and sleeps in between.
__attribute__((noinline)) void nap_until_ready()
{
    while (!shared.ready.load(std::memory_order_acquire)) {
        shared.yields.fetch_add(1, std::memory_order_relaxed);
        usleep(100);
    }
}

void naps()
{
    std::thread napper(nap_until_ready);
    while (shared.yields < 300)
        known__yield();
    shared.ready = 1;
    napper.join();
    std::printf("naps=%u\n", shared.yields.load());
}

std::mutex taken;
bool told;

// Tries to get it, and sleeps in between.
__attribute__((noinline)) void nap_until_free()
{
    while (!taken.try_lock()) {
        shared.yields.fetch_add(1, std::memory_order_relaxed);
        usleep(100);
    }
    taken.unlock();
}

// Looks under a lock, and sleeps in between, longer and longer.
__attribute__((noinline)) void nap_until_told()
{
    for (unsigned us = 500;; us = us < 16000 ? 2 * us : us) {
        std::lock_guard<std::mutex> guard(taken);
        if (told)
            break;
        shared.yields.fetch_add(1, std::memory_order_relaxed);
        taken.unlock();
        usleep(us);
        taken.lock();
    }
}

void looks()
{
    std::thread napper(nap_until_told);
    while (shared.yields < 20)
        known__yield();
    taken.lock();
    told = true;
    taken.unlock();
    napper.join();
    std::printf("naps=%u\n", shared.yields.load());
}

void tries()
{
    taken.lock();
    std::thread napper(nap_until_free);
    while (shared.yields < 50)
        known__yield();
    taken.unlock();
    napper.join();
    std::printf("naps=%u\n", shared.yields.load());
}

// Works a little, and sleeps in between. By the work, not by the clock: others may have its CPU
// meanwhile.
__attribute__((noinline)) void pace()
{
    for (int i = 0; i < 50; i++) {
        for (int work = 0; work < 200000; work++)
            __asm__ volatile("" : "+r"(work));
        usleep(100);
    }
}

void paces()
{
    std::thread pacer(pace);
    pacer.join();
    std::printf("naps=50\n");
}

// Sleeps as long as what the sleeps stand for takes: a little longer or shorter each time.
__attribute__((noinline)) void stand_in()
{
    for (int i = 0; i < 50; i++)
        usleep(500 + i * 37 % 90);
}

void stands()
{
    std::thread stander(stand_in);
    stander.join();
    std::printf("naps=50\n");
}

// Made while another thread comes and waits for it.
struct slow {
    slow()
    {
        std::thread waiter([] { came(); });
        waiter.detach();
        until_it_waits();
        shared.ready = 1;
    }
    static void came();
};

__attribute__((noinline)) slow &made_once()
{
    static slow only;
    return only;
}

__attribute__((noinline)) void slow::came()
{
    arrives();
    made_once();
    returned();
}

void guard()
{
    made_once();
    while (shared.tid)
        known__yield();
}

pthread_once_t once_flag = PTHREAD_ONCE_INIT;

__attribute__((noinline)) void come_for_once();

void make()
{
    std::thread waiter(come_for_once);
    waiter.detach();
    until_it_waits();
}

__attribute__((noinline)) void come_for_once()
{
    arrives();
    pthread_once(&once_flag, make);
    returned();
}

void once()
{
    pthread_once(&once_flag, make);
    while (shared.tid)
        known__yield();
}

__attribute__((noinline)) void wait_for_signal()
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    int which;
    arrives();
    sigwait(&signals, &which);
    returned();
}

void signals()
{
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
    std::thread waiter(wait_for_signal);
    until_it_waits();
    pthread_kill(waiter.native_handle(), SIGUSR1);
    waiter.join();
}

void children()
{
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        int status;
        KNOWN_CHECK(waitpid(child, &status, 0) == child);
        KNOWN_CHECK(waitpid(-1, &status, WNOHANG) == -1);
    }
    std::printf("waits=3\n");
}

constexpr struct {
    const char *name;
    void (*run)();
} kinds[] = {
    {"polls", polls},   {"latch", latch}, {"barrier", barrier}, {"semaphore", semaphore},
    {"atomic", atomic}, {"naps", naps},   {"paces", paces},     {"stands", stands},
    {"guard", guard},   {"once", once},   {"signals", signals}, {"children", children},
    {"tries", tries},   {"looks", looks},
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
