#include "base/memory.h"
#include "locks_made.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A small machine: threads lock, work, unlock; who comes first gets the lock, then who waited
 * longest. It writes a trace of what it did, and counts for itself. */
enum { THREADS = 5, LOCKS = 4, SITES = 3, DEPTH = 3, OPERATIONS = 300 };

struct truth {
    uint64_t acquisitions, contended, wait, wait_max, hold, hold_max;
    uint64_t site_acquisitions[SITES], site_wait[SITES], site_hold[SITES];
    uint64_t pair_waits[SITES][SITES], pair_wait[SITES][SITES];
    uint64_t wake;
};

struct simulated_thread {
    uint64_t tick; /* of what it does next */
    int held[DEPTH], site[DEPTH];
    uint64_t since[DEPTH];
    int depth, waits_for, wait_site; /* waits_for −1: nothing */
    uint64_t wait_since, covered;
    int operations;
};

struct simulated_lock {
    int owner, site, queue[THREADS], queued; /* owner −1: free */
};

struct simulation {
    char *text[THREADS];
    struct simulated_thread threads[THREADS];
    struct simulated_lock locks[LOCKS];
    struct truth truth[LOCKS];
    unsigned seed;
};

static unsigned chance(struct simulation *simulation, unsigned below)
{
    simulation->seed = simulation->seed * 1103515245u + 12345u;
    return (simulation->seed >> 16 & 0x7fff) % below;
}

static void tell(struct simulation *simulation, int thread, uint64_t tick, const char *what)
{
    char *old = simulation->text[thread];
    simulation->text[thread] = memory__format("%s%llu %s\n", old, (unsigned long long)tick, what);
    free(old);
}

#define TELL(simulation, thread, tick, ...)       \
    do {                                          \
        char line[80];                            \
        snprintf(line, sizeof line, __VA_ARGS__); \
        tell(simulation, thread, tick, line);     \
    } while (0)

/* A time after tick; no two threads do anything at the same one. */
static uint64_t after(struct simulation *simulation, int thread, uint64_t tick, unsigned most)
{
    return (tick / 8 + 1 + chance(simulation, most)) * 8 + (uint64_t)thread;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void gets(struct simulation *simulation, int number, int lock, int site, uint64_t tick)
{
    struct simulated_thread *thread = &simulation->threads[number];
    simulation->locks[lock].owner = number;
    simulation->locks[lock].site = site;
    simulation->truth[lock].acquisitions++;
    simulation->truth[lock].site_acquisitions[site]++;
    thread->held[thread->depth] = lock;
    thread->site[thread->depth] = site;
    thread->since[thread->depth++] = tick;
    thread->tick = after(simulation, number, tick, 40);
}

static void locks(struct simulation *simulation, int number, int lock)
{
    struct simulated_thread *thread = &simulation->threads[number];
    struct simulated_lock *what = &simulation->locks[lock];
    int site = (int)chance(simulation, SITES);
    if (what->owner < 0) {
        TELL(simulation, number, thread->tick, "lock_acquired 0x%x/0 0x%x", 0x10 + site,
             0x70 + lock);
        gets(simulation, number, lock, site, thread->tick);
        return;
    }
    TELL(simulation, number, thread->tick, "lock_wait 0x%x/0 0x%x", 0x10 + site, 0x70 + lock);
    what->queue[what->queued++] = number;
    thread->waits_for = lock;
    thread->wait_site = site;
    thread->wait_since = thread->tick;
}

static void hands_over(struct simulation *simulation, int lock, int from_site, uint64_t tick)
{
    struct simulated_lock *what = &simulation->locks[lock];
    struct truth *truth = &simulation->truth[lock];
    int next = what->queue[0];
    struct simulated_thread *thread = &simulation->threads[next];
    uint64_t woken = after(simulation, next, tick, 20), wait = woken - thread->wait_since;
    memmove(what->queue, what->queue + 1, (size_t)--what->queued * sizeof what->queue[0]);
    TELL(simulation, next, woken, "leave lock_wait 0");
    truth->contended++;
    truth->wait += wait;
    truth->wait_max = greater(truth->wait_max, wait);
    truth->wake += woken - tick;
    truth->site_wait[thread->wait_site] += wait;
    truth->pair_waits[from_site][thread->wait_site]++;
    truth->pair_wait[from_site][thread->wait_site] += wait;
    thread->waits_for = -1;
    gets(simulation, next, lock, thread->wait_site, woken);
}

static void unlocks(struct simulation *simulation, int number)
{
    struct simulated_thread *thread = &simulation->threads[number];
    int place = --thread->depth, lock = thread->held[place], site = thread->site[place];
    struct truth *truth = &simulation->truth[lock];
    uint64_t hold = thread->tick - thread->since[place], tick = thread->tick;
    TELL(simulation, number, tick, "lock_released 0x20/0 0x%x", 0x70 + lock);
    truth->hold += hold;
    truth->hold_max = greater(truth->hold_max, hold);
    truth->site_hold[site] += hold;
    if (!place)
        thread->covered += hold;
    simulation->locks[lock].owner = -1;
    thread->tick = after(simulation, number, tick, 60);
    if (simulation->locks[lock].queued)
        hands_over(simulation, lock, site, tick);
}

/* Locks are taken in their order, so that nobody waits for ever. */
static void does(struct simulation *simulation, int number)
{
    struct simulated_thread *thread = &simulation->threads[number];
    int next = thread->depth ? thread->held[thread->depth - 1] + 1 : 0;
    bool may_lock = thread->depth < DEPTH && next < LOCKS && thread->operations > 0;
    thread->operations--;
    if (may_lock && (thread->depth == 0 || chance(simulation, 3) == 0))
        locks(simulation, number, next + (int)chance(simulation, (unsigned)(LOCKS - next)));
    else
        unlocks(simulation, number);
}

static bool is_done(const struct simulated_thread *thread)
{
    return thread->waits_for < 0 && thread->depth == 0 && thread->operations <= 0;
}

static void simulate(struct simulation *simulation)
{
    for (;;) {
        int earliest = -1;
        for (int i = 0; i < THREADS; i++) {
            const struct simulated_thread *thread = &simulation->threads[i];
            if (thread->waits_for < 0 && !is_done(thread) &&
                (earliest < 0 || thread->tick < simulation->threads[earliest].tick))
                earliest = i;
        }
        if (earliest < 0)
            return;
        does(simulation, earliest);
    }
}

static void begin_simulation(struct simulation *simulation, unsigned seed)
{
    *simulation = (struct simulation){.seed = seed};
    for (int i = 0; i < LOCKS; i++)
        simulation->locks[i].owner = -1;
    for (int i = 0; i < THREADS; i++) {
        simulation->text[i] =
            memory__format("thread %d t\n1000 thread_start %d 0xffffffff 0\n", i, i + 1);
        simulation->threads[i] = (struct simulated_thread){

            .tick = after(simulation, i, 2000, 50), .waits_for = -1, .operations = OPERATIONS};
    }
}

static struct made end_simulation(struct simulation *simulation, uint64_t *lifetimes)
{
    char *all = memory__text("start 1000\n");
    uint64_t last = 0;
    *lifetimes = 0;
    for (int i = 0; i < THREADS; i++) {
        uint64_t end = simulation->threads[i].tick;
        TELL(simulation, i, end, "thread_end 0 0");
        *lifetimes += end - 1000;
        last = greater(last, end);
        char *more = memory__format("%s%s", all, simulation->text[i]);
        free(all);
        free(simulation->text[i]);
        all = more;
    }
    char *more = memory__format("%send %llu\n", all, (unsigned long long)last);
    struct made made = make(more);
    free(all);
    free(more);
    return made;
}

static void check_row(const struct lock_row *row, const struct truth *truth)
{
    assert_int_equal(row->exclusive.acquisitions, truth->acquisitions);
    assert_int_equal(row->exclusive.contended, truth->contended);
    check_times(&row->exclusive.wait, truth->contended, truth->wait, truth->wait_max);
    check_times(&row->exclusive.hold, truth->acquisitions, truth->hold, truth->hold_max);
    assert_int_equal(row->wake.count, truth->contended);
    assert_int_equal(row->wake.sum_ns, truth->wake);
    if (truth->contended)
        assert_int_equal(VEC_AT(&row->longest, struct lock_wait, 0)->wait_ns, truth->wait_max);
    VEC_EACH (site, &row->sites, struct lock_site) {
        assert_in_range(site->site, 0x10, 0x10 + SITES - 1);
        assert_int_equal(site->acquisitions, truth->site_acquisitions[site->site - 0x10]);
        assert_int_equal(site->wait_ns, truth->site_wait[site->site - 0x10]);
        assert_int_equal(site->hold_ns, truth->site_hold[site->site - 0x10]);
    }
    VEC_EACH (pair, &row->pairs, struct lock_pair) {
        uint64_t holder = pair->holder_site - 0x10, waiter = pair->waiter_site - 0x10;
        assert_true(holder < SITES && waiter < SITES);
        assert_int_equal(pair->waits, truth->pair_waits[holder][waiter]);
        assert_int_equal(pair->wait_ns, truth->pair_wait[holder][waiter]);
    }
    VEC_EACH (wait, &row->longest, struct lock_wait)
        assert_true(wait->holder < THREADS && wait->holder != wait->thread);
}

static void check_simulation(unsigned seed)
{
    static struct simulation simulation;
    uint64_t lifetimes, wait = 0, hold = 0, covered = 0;
    begin_simulation(&simulation, seed);
    simulate(&simulation);
    struct made made = end_simulation(&simulation, &lifetimes);
    for (int i = 0; i < LOCKS; i++) {
        check_row(row_at(&made, 0x70 + (uint64_t)i), &simulation.truth[i]);
        wait += simulation.truth[i].wait;
        hold += simulation.truth[i].hold;
    }
    for (int i = 0; i < THREADS; i++)
        covered += simulation.threads[i].covered;
    const struct locks_result *result = made.result;
    assert_true(wait > 0);
    assert_int_equal(result->lifetime_sum_ns, lifetimes);
    assert_int_equal(result->wait_ns, wait);
    assert_int_equal(result->hold_sum_ns, hold);
    assert_int_equal(result->hold_covered_ns, covered);
    assert_int_equal(sum_of(result->acquiring_ns, result->steps), wait);
    assert_int_equal(sum_of(result->running_ns, result->steps), lifetimes - wait);
    assert_true(result->steps > 240 && result->steps <= 600);
    assert_int_equal(result->inversions.count, 0);
    size_t checks = result->checks.count;
    assert_true(locks__mark(made.trace, made.result));
    assert_true(result->checks.count > checks);
    check_checks(result);
    drop(&made);
}

static void programs_by_chance(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 40; seed++)
        check_simulation(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_by_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
