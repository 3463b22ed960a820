/* causes.c: OpenMP programs with a known cause of lost time each: PART [--threads N] [--fixed].
 *
 * Work is CPU time of the thread that does it, and what is known is measured in the same run by the
 * program's own clocks, so that a busy machine changes both alike. Prints NAME=VALUE a line:
 * counts, and shares of 1000. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS_MOST = 16, PARTS_MOST = 128 };

static int threads = 2, fixed;
static uint64_t begun; /* the program's */

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t wall_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static uint64_t cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Of this thread's CPU time. */
__attribute__((noinline)) void work(double us);
void work(double us)
{
    uint64_t end = cpu_ns() + (uint64_t)(us * 1000);
    while (cpu_ns() < end)
        continue;
}

/* What threads did in the region that is looked at, one cache line each. */
static struct {
    _Alignas(128) uint64_t work, wait, arrived, left;
    uint64_t since, parts[PARTS_MOST]; /* of this call, up to each of its barriers */
    int part;
} own[THREADS_MOST];
static uint64_t region_wall, region_began, span;
static int is_chain; /* who waits when is not known */

/* The busiest thread's work, up to each barrier: what the call takes where there are CPUs. */
static void add_span(void)
{
    for (int part = 0; part < PARTS_MOST; part++) {
        uint64_t most = 0;
        for (int i = 0; i < threads; i++)
            most = own[i].parts[part] > most ? own[i].parts[part] : most;
        span += most;
    }
}

static void region_begins(void)
{
    for (int i = 0; i < threads; i++)
        memset(own[i].parts, 0, sizeof own[i].parts);
    region_began = wall_ns();
}

static void region_ends(void)
{
    uint64_t now = wall_ns();
    region_wall += now - region_began;
    add_span();
    uint64_t last = 0;
    for (int i = 0; i < threads; i++)
        last = own[i].arrived > last ? own[i].arrived : last;
    for (int i = 0; i < threads; i++)
        own[i].wait += own[i].arrived > region_began ? last - own[i].arrived : 0;
}

static void body_begins(void)
{
    int i = omp_get_thread_num();
    own[i].left = own[i].since = cpu_ns();
    own[i].part = 0;
}

static void body_ends(void)
{
    int i = omp_get_thread_num();
    uint64_t now = cpu_ns();
    own[i].work += now - own[i].left;
    own[i].parts[own[i].part] += now - own[i].since;
    own[i].arrived = wall_ns();
}

/* That much of this thread's work was none. */
static void waited(uint64_t wall, uint64_t cpu)
{
    int i = omp_get_thread_num();
    uint64_t now = cpu_ns();
    own[i].wait += wall;
    own[i].work -= cpu;
    own[i].parts[own[i].part] += now - cpu - own[i].since;
    own[i].part += own[i].part + 1 < PARTS_MOST;
    own[i].since = now;
}

static void print(const char *name, double value)
{
    printf("%s=%.0f\n", name, value);
}

static void print_known(void)
{
    double sum = 0, most = 0, wait = 0;
    for (int i = 0; i < threads; i++) {
        sum += (double)own[i].work;
        wait += (double)own[i].wait;
        most = (double)own[i].work > most ? (double)own[i].work : most;
    }
    double capacity = (double)region_wall * threads;
    if (sum > 0 && !is_chain)
        print("most_share", 1000 * most / sum);
    if (capacity > 0 && !is_chain)
        print("wait_share", 1000 * wait / capacity);
    if (span)
        print("span", (double)span / 1000);
    if (capacity > 0)
        print("lost_share", 1000 * (1 - sum / capacity));
}

/* ---- loops ----------------------------------------------------------------------------------- */

enum { ITEMS = 256, CALLS = 6 };

/* Of a quarter of the items, the last one, each costs nine times as much. */
static double skewed(int i)
{
    return i >= ITEMS * 3 / 4 ? 900 : 100;
}

static void skew(void)
{
    for (int call = 0; call < CALLS; call++) {
        region_begins();
#pragma omp parallel num_threads(threads)
        {
            body_begins();
            if (fixed) {
#pragma omp for schedule(dynamic, 4) nowait
                for (int i = 0; i < ITEMS; i++)
                    work(skewed(i));
            } else {
#pragma omp for schedule(static) nowait
                for (int i = 0; i < ITEMS; i++)
                    work(skewed(i));
            }
            body_ends();
        }
        region_ends();
    }
    print("regions", CALLS + 1);
}

static void triangle(void)
{
    for (int call = 0; call < CALLS; call++) {
        region_begins();
#pragma omp parallel num_threads(threads)
        {
            body_begins();
            if (fixed) {
#pragma omp for schedule(guided) nowait
                for (int i = 0; i < ITEMS; i++)
                    work(2 * i);
            } else {
#pragma omp for schedule(static) nowait
                for (int i = 0; i < ITEMS; i++)
                    work(2 * i);
            }
            body_ends();
        }
        region_ends();
    }
    print("regions", CALLS + 1);
}

/* Chunks that are too large: the last one of all holds what is dear. */
static void coarse(void)
{
    int chunk = fixed ? 4 : ITEMS / 4;
    for (int call = 0; call < CALLS; call++) {
        region_begins();
#pragma omp parallel num_threads(threads)
        {
            body_begins();
#pragma omp for schedule(dynamic, chunk) nowait
            for (int i = 0; i < ITEMS; i++)
                work(skewed(i));
            body_ends();
        }
        region_ends();
    }
    print("iterations", CALLS * ITEMS);
    print("chunks", CALLS * (double)((ITEMS + chunk - 1) / chunk));
}

/* Iterations of which there are too few: collapse(2) makes more of them. */
static void few(void)
{
    int rows = threads + 1, columns = 32;
    for (int call = 0; call < CALLS; call++) {
        region_begins();
#pragma omp parallel num_threads(threads)
        {
            body_begins();
            if (fixed) {
#pragma omp for collapse(2) schedule(dynamic, 1) nowait
                for (int i = 0; i < rows; i++)
                    for (int j = 0; j < columns; j++)
                        work(500);
            } else {
#pragma omp for schedule(dynamic, 1) nowait
                for (int i = 0; i < rows; i++)
                    for (int j = 0; j < columns; j++)
                        work(500);
            }
            body_ends();
        }
        region_ends();
    }
    print("iterations", CALLS * rows * (fixed ? columns : 1));
}

/* Two loops, of which the second is uneven the other way round. */
static void phases(void)
{
    for (int call = 0; call < 4 * CALLS; call++) {
        region_begins();
#pragma omp parallel num_threads(threads)
        {
            int me = omp_get_thread_num();
            body_begins();
            work(me % 2 ? 9000 : 3000);
            if (!fixed) {
                uint64_t wall = wall_ns(), cpu = cpu_ns();
#pragma omp barrier
                waited(wall_ns() - wall, cpu_ns() - cpu);
            }
            work(me % 2 ? 3000 : 9000);
            body_ends();
        }
        region_ends();
    }
    print("regions", 4 * CALLS + 1);
}

static void loops(void)
{
    for (int call = 0; call < CALLS; call++) {
        region_begins();
#pragma omp parallel num_threads(threads)
        {
            body_begins();
            if (fixed) {
#pragma omp for schedule(dynamic, 1) nowait
                for (int i = 0; i < 4; i++)
                    work(i < 2 ? 6000 : 1000);
            } else {
                uint64_t wall = wall_ns(), cpu = cpu_ns();
#pragma omp for schedule(dynamic, 2)
                for (int i = 0; i < 4; i++) {
                    work(i < 2 ? 6000 : 1000);
                    wall = wall_ns(), cpu = cpu_ns();
                }
                waited(wall_ns() - wall, cpu_ns() - cpu);
            }
#pragma omp for schedule(dynamic, 1) nowait
            for (int i = 0; i < 64; i++)
                work(200);
            body_ends();
        }
        region_ends();
    }
    print("iterations", CALLS * 68);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void one_heavy(void)
{
    for (int call = 0; call < 80; call++) {
        region_begins();
#pragma omp parallel num_threads(threads)
        {
            body_begins();
            int me = omp_get_thread_num();
            work(fixed ? 1500.0 * (threads + 2) / threads : me == 1 ? 4500 : 1500);
            body_ends();
        }
        region_ends();
    }
    print("regions", 81);
}

static void explicit_barrier(void)
{
    region_begins();
#pragma omp parallel num_threads(threads)
    {
        body_begins();
        for (int round = 0; round < 100; round++) {
            int me = omp_get_thread_num();
            work(fixed ? 750.0 * (threads + 3) / threads : me == 0 ? 3000 : 750);
            uint64_t wall = wall_ns(), cpu = cpu_ns();
#pragma omp barrier
            waited(wall_ns() - wall, cpu_ns() - cpu);
        }
        body_ends();
    }
    region_ends();
    print("regions", 2);
}

static void single(void)
{
    region_begins();
#pragma omp parallel num_threads(threads)
    {
        body_begins();
        for (int round = 0; round < 20; round++) {
#pragma omp single nowait
            work(2000);
            uint64_t wall = wall_ns(), cpu = cpu_ns();
#pragma omp barrier
            waited(wall_ns() - wall, cpu_ns() - cpu);
            work(1000);
            wall = wall_ns(), cpu = cpu_ns();
#pragma omp barrier
            waited(wall_ns() - wall, cpu_ns() - cpu);
        }
        body_ends();
    }
    region_ends();
    print("singles", 20);
}

static void sections(void)
{
    for (int call = 0; call < CALLS; call++) {
        region_begins();
#pragma omp parallel num_threads(threads)
        {
            body_begins();
#pragma omp sections nowait
            {
#pragma omp section
                work(fixed ? 5000 : 12000);
#pragma omp section
                work(fixed ? 5000 : 2000);
#pragma omp section
                work(fixed ? 5000 : 3000);
#pragma omp section
                work(fixed ? 5000 : 3000);
            }
            body_ends();
        }
        region_ends();
    }
    print("sections", 4 * CALLS);
}

/* ---- serial ---------------------------------------------------------------------------------- */

static void with_serial(double serial_us)
{
    uint64_t serial = 0;
    for (int call = 0; call < 60; call++) {
        uint64_t since = wall_ns();
        work(serial_us);
        serial += wall_ns() - since;
#pragma omp parallel num_threads(threads)
        work(3000);
    }
    print("serial_share", 1000.0 * (double)serial / (double)(wall_ns() - begun));
    print("regions", 61);
}

static void serial_half(void)
{
    with_serial(fixed ? 30 : 3000);
}

static void serial_fifth(void)
{
    with_serial(fixed ? 30 : 750);
}

/* Many regions in which there is little to do. */
static void short_regions(void)
{
    enum { REGIONS = 3000 };
    int calls = fixed ? 1 : REGIONS;
    for (int call = 0; call < calls; call++) {
#pragma omp parallel num_threads(threads)
        for (int i = 0; i < REGIONS / calls; i++)
            work(5);
    }
    print("regions", calls + 1);
}

/* ---- locks ----------------------------------------------------------------------------------- */

static void critical_wait(double outside, double inside, int rounds)
{
    region_begins();
#pragma omp parallel num_threads(threads)
    {
        body_begins();
        for (int i = 0; i < rounds; i++) {
            work(outside);
            uint64_t wall = wall_ns(), cpu = cpu_ns();
#pragma omp critical(till)
            {
                waited(wall_ns() - wall, cpu_ns() - cpu);
                work(inside);
            }
        }
        body_ends();
    }
    region_ends();
    print("locks", threads * rounds);
}

static void critical(void)
{
    critical_wait(fixed ? 3900 : 300, fixed ? 100 : 3700, 15);
}

static void critical_half(void)
{
    critical_wait(fixed ? 3900 : 2000, fixed ? 100 : 2000, 15);
}

/* What a reduction would do. */
static void critical_sum(void)
{
    enum { ADDED = 1000000 };
    long sum = 0;
    if (fixed) {
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
        for (int i = 0; i < ADDED; i++)
            sum += i & 3;
    } else {
#pragma omp parallel for num_threads(threads)
        for (int i = 0; i < ADDED; i++) {
#pragma omp critical(sum)
            sum += i & 3;
        }
    }
    print("locks", fixed ? 0 : ADDED);
    printf("# %ld\n", sum);
}

static void lock_storm(void)
{
    enum { TAKEN = 100000 };
    static omp_lock_t locks[64];
    static long counts[64][16];
    for (int i = 0; i < 64; i++)
        omp_init_lock(&locks[i]);
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < TAKEN; i++) {
        int which = fixed ? omp_get_thread_num() : 0;
        omp_set_lock(&locks[which]);
        counts[which][0]++;
        omp_unset_lock(&locks[which]);
    }
    print("locks", (double)threads * TAKEN);
}

static void ordered(void)
{
    enum { ROUNDS = 24 };
    region_begins();
#pragma omp parallel num_threads(threads)
    {
        body_begins();
#pragma omp for ordered schedule(static, 1) nowait
        for (int i = 0; i < ROUNDS; i++) {
            work(fixed ? 3900 : 1000);
            uint64_t wall = wall_ns(), cpu = cpu_ns();
#pragma omp ordered
            {
                waited(wall_ns() - wall, cpu_ns() - cpu);
                work(fixed ? 100 : 3000);
            }
        }
        body_ends();
    }
    region_ends();
    print("locks", ROUNDS);
}

/* Each iteration waits for the one before. */
static void doacross(void)
{
    enum { ROUNDS = 24 };
    region_begins();
#pragma omp parallel num_threads(threads)
    {
        body_begins();
#pragma omp for ordered(1) schedule(dynamic, 1) nowait
        for (int i = 0; i < ROUNDS; i++) {
            uint64_t wall = wall_ns(), cpu = cpu_ns();
#pragma omp ordered depend(sink : i - 1)
            waited(wall_ns() - wall, cpu_ns() - cpu);
            work(3000);
#pragma omp ordered depend(source)
        }
        body_ends();
    }
    region_ends();
    print("iterations", ROUNDS);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

enum { SMALL_TASKS = 400000, TASKS_AS_ONE = 50 };

/* us: 0: hardly anything. */
static void tasks_of(int count, double us)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < count; i++) {
#pragma omp task
        {
            if (us > 0)
                work(us);
            else
                for (volatile long j = 0; j < (fixed ? 300 * TASKS_AS_ONE : 300); j++)
                    continue;
        }
    }
    print("tasks", count);
}

static void tiny_tasks(void)
{
    tasks_of(fixed ? SMALL_TASKS / TASKS_AS_ONE : SMALL_TASKS, 0);
    if (!fixed)
        print("small_share", 1000);
}

static void large_tasks(void)
{
    tasks_of(100, 1500);
    print("small_share", 0);
}

/* A chain of tasks, which nobody can do side by side. */
static void chain(void)
{
    int link[2];
    enum { TASKS = 40 };
    region_begins();
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
        int at = fixed ? i % 2 : 0;
#pragma omp task depend(inout : link[at])
        {
            uint64_t since = cpu_ns();
            work(2500);
            own[omp_get_thread_num()].work += cpu_ns() - since;
        }
    }
    region_ends();
    (void)link;
    print("tasks", TASKS);
    is_chain = 1;
}

/* ---- nested, cancelled ----------------------------------------------------------------------- */

static void nested(void)
{
    omp_set_max_active_levels(2);
    for (int call = 0; call < 10; call++) {
#pragma omp parallel num_threads(2)
        {
#pragma omp parallel num_threads(threads / 2 ? threads / 2 : 1)
            work(omp_get_thread_num() || fixed ? 3000 : 1000);
        }
    }
    print("outer", 11);
    print("inner", 20);
}

static void cancelled(void)
{
    long left = 0;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(dynamic, 1) reduction(+ : left)
        for (int i = 0; i < 100; i++) {
            work(100);
            left++;
#pragma omp cancel for if (i == 40)
        }
    }
    print("cancels", omp_get_cancellation());
}

static int number_of(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--threads") == 0)
            return atoi(argv[i + 1]);
    return 2;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"skew", skew},
                 {"triangle", triangle},
                 {"coarse", coarse},
                 {"few", few},
                 {"phases", phases},
                 {"loops", loops},
                 {"one_heavy", one_heavy},
                 {"explicit_barrier", explicit_barrier},
                 {"single", single},
                 {"sections", sections},
                 {"serial_half", serial_half},
                 {"serial_fifth", serial_fifth},
                 {"short_regions", short_regions},
                 {"critical", critical},
                 {"critical_half", critical_half},
                 {"critical_sum", critical_sum},
                 {"lock_storm", lock_storm},
                 {"ordered", ordered},
                 {"doacross", doacross},
                 {"tiny_tasks", tiny_tasks},
                 {"large_tasks", large_tasks},
                 {"chain", chain},
                 {"nested", nested},
                 {"cancelled", cancelled}};
    begun = wall_ns();
    threads = number_of(argc, argv);
    threads = threads < 1 ? 1 : threads > THREADS_MOST ? THREADS_MOST : threads;
#pragma omp parallel num_threads(threads)
    work(100); /* recorders prepare much when the second thread begins */
    for (int i = 1; i < argc; i++)
        fixed |= strcmp(argv[i], "--fixed") == 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (argc > 1 && strcmp(argv[1], parts[i].name) == 0)
            parts[i].run();
    print_known();
    return 0;
}
