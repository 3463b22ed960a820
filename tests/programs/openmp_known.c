/* openmp_known.c: regions, loops, chunks, tasks and the like of OpenMP, a known number of each, by
 * the name of what is done: counts, balance (one thread has three times the work of the other),
 * serial (half of the time no region), critical, sinks (iterations that wait), tasks, stages (two
 * tasks at a time, one of them longer, which are waited for), halves (tasks that wait for the two
 * that they make), nested, cancel.
 *
 * Work is CPU time of the thread that does it, so that what others have of the machine matters
 * little. */
#include "known.h"

#include <omp.h>

enum { THREADS = 2, REGIONS = 20, ITEMS = 103, CHUNK = 5, TASKS = 200, STAGES = 30 };

static uint64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void work(uint64_t us);

KNOWN_FUNCTION void work(uint64_t us)
{
    uint64_t end = thread_ns() + us * 1000;
    while (thread_ns() < end)
        continue;
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void count_loops(void)
{
    long items = 0, wide = 0;
#pragma omp parallel for schedule(dynamic, CHUNK) num_threads(THREADS) reduction(+ : items)
    for (int i = 0; i < ITEMS; i++)
        items++;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for schedule(guided) nowait reduction(+ : items)
        for (int i = ITEMS; i > 0; i -= 2)
            items++;
#pragma omp for schedule(dynamic, 3) reduction(+ : wide)
        for (unsigned long long i = 0; i < ITEMS; i++)
            wide++;
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < ITEMS; i++) {
#pragma omp ordered
            wide++;
        }
    }
    KNOWN_CHECK(items == ITEMS + (ITEMS + 1) / 2 && wide == 2 * ITEMS);
    known__number("dynamic_iterations", ITEMS);
    known__number("dynamic_chunks", (ITEMS + CHUNK - 1) / CHUNK);
    known__number("guided_iterations", (ITEMS + 1) / 2);
    known__number("wide_iterations", ITEMS);
    known__number("wide_chunks", (ITEMS + 2) / 3);
    known__number("ordered_iterations", ITEMS);
}

static void count_sections(void)
{
    int sections = 0, singles = 0;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp sections
        {
#pragma omp section
#pragma omp atomic
            sections++;
#pragma omp section
#pragma omp atomic
            sections++;
#pragma omp section
#pragma omp atomic
            sections++;
        }
        for (int i = 0; i < 7; i++) {
#pragma omp single
            singles++;
        }
    }
    KNOWN_CHECK(sections == 3 && singles == 7);
    known__number("sections", sections);
    known__number("singles", singles);
}

/* Iterations that depend on those before. */
static void count_doacross(void)
{
    static long done[ITEMS + 1];
#pragma omp parallel for ordered(1) schedule(dynamic, 1) num_threads(THREADS)
    for (int i = 1; i <= ITEMS; i++) {
#pragma omp ordered depend(sink : i - 1)
        done[i] = done[i - 1] + 1;
#pragma omp ordered depend(source)
    }
    KNOWN_CHECK(done[ITEMS] == ITEMS);
    known__number("doacross_iterations", ITEMS);
}

static void count_regions(void)
{
    long bodies = 0;
    for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel num_threads(THREADS)
#pragma omp atomic
        bodies++;
    }
    KNOWN_CHECK(bodies == REGIONS * THREADS);
    known__number("regions", REGIONS);
}

static void count_all(void)
{
    count_regions();
    count_loops();
    count_sections();
    count_doacross();
}

/* ---- balance, serial, critical --------------------------------------------------------------- */

static void do_balance(void)
{
    for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel num_threads(THREADS)
        work(omp_get_thread_num() ? 6000 : 2000);
    }
    known__number("regions", REGIONS);
}

static void do_serial(void)
{
    for (int i = 0; i < REGIONS; i++) {
        work(3000);
#pragma omp parallel num_threads(THREADS)
        work(3000);
    }
    known__number("regions", REGIONS);
}

/* All but a tenth of the work is in the section. */
static void do_critical(void)
{
    long entries = 0;
#pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < 40; i++) {
        work(300);
#pragma omp critical(known)
        {
            work(2700);
            entries++;
        }
    }
    known__number("critical", entries);
}

/* Each iteration waits for the one before. */
static void do_sinks(void)
{
    static long done[ITEMS + 1];
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp barrier
#pragma omp for ordered(1) schedule(dynamic, 1)
        for (int i = 1; i <= ITEMS; i++) {
#pragma omp ordered depend(sink : i - 1)
            work(500);
            done[i] = done[i - 1] + 1;
#pragma omp ordered depend(source)
        }
    }
    KNOWN_CHECK(done[ITEMS] == ITEMS);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

struct pair {
    long a, b;
};

static void do_tasks(void)
{
    long sum = 0, deep = 0, loop = 0;
    struct pair pair = {3, 4};
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
        for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i, pair) shared(sum)
            {
                work(200);
#pragma omp atomic
                sum += i + pair.a + pair.b;
            }
        }
#pragma omp taskwait
        for (int i = 0; i < TASKS; i++) {
#pragma omp task shared(deep) if (i % 2) depend(inout : deep)
            deep++;
        }
#pragma omp taskloop grainsize(10) shared(loop)
        for (int i = 0; i < TASKS; i++) {
#pragma omp atomic
            loop += i;
        }
    }
    KNOWN_CHECK(sum == (long)TASKS * (TASKS - 1) / 2 + 7 * TASKS && deep == TASKS);
    KNOWN_CHECK(loop == (long)TASKS * (TASKS - 1) / 2);
    known__number("large_tasks", TASKS);
    known__number("tasks", 2 * TASKS + TASKS / 10);
}

/* ---- nested, cancel -------------------------------------------------------------------------- */

static void do_stages(void)
{
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    for (int stage = 0; stage < STAGES; stage++) {
#pragma omp task
        work(stage % 2 ? 1000 : 5000);
#pragma omp task
        work(stage % 2 ? 5000 : 1000);
#pragma omp taskwait
    }
    known__number("tasks", 2 * STAGES);
}

static long halves_made(uint64_t us)
{
    long first = 0, second = 0;
    work(us);
    if (us < 1000)
        return 0;
#pragma omp task shared(first)
    first = halves_made(us * 3 / 5);
#pragma omp task shared(second)
    second = halves_made(us / 5);
#pragma omp taskwait
    return first + second + 2;
}

static void do_halves(void)
{
    long made = 0;
    for (int i = 0; i < 4; i++)
#pragma omp parallel num_threads(THREADS) reduction(+ : made)
#pragma omp single
        made += halves_made(20000);
    known__number("tasks", (uint64_t)made);
}

static void do_nested(void)
{
    long bodies = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(THREADS)
#pragma omp atomic
        bodies++;
    }
    KNOWN_CHECK(bodies == 5 * THREADS * THREADS);
    known__number("outer", 1);
    known__number("inner", 5 * THREADS);
}

static void do_cancel(void)
{
    long left = 0;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for schedule(dynamic, 1) reduction(+ : left)
        for (int i = 0; i < ITEMS; i++) {
            left++;
#pragma omp cancel for if (i == 0)
        }
#pragma omp barrier
    }
    KNOWN_CHECK(omp_get_cancellation() ? left <= ITEMS : left == ITEMS);
    known__number("cancels", omp_get_cancellation());
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"counts", count_all},     {"balance", do_balance}, {"serial", do_serial},
                 {"critical", do_critical}, {"sinks", do_sinks},     {"tasks", do_tasks},
                 {"stages", do_stages},     {"halves", do_halves},   {"nested", do_nested},
                 {"cancel", do_cancel}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (argc < 2 || strcmp(argv[1], parts[i].name) == 0)
            parts[i].run();
    return 0;
}
